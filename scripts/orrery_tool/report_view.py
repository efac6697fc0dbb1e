# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: what the browser draws: nodes, and on demand their workers and tasks."""
import base64
import json
from array import array

from orrery_tool.report_time import BINS

MAX_TASKS = 250000         # in the page
TICKS = (1 << 32) - 1      # the run's time as a whole number

SCRIPT = """
(()=>{const d=JSON.parse(document.getElementById('run').textContent);
const bytes=s=>Uint8Array.from(atob(s),c=>c.charCodeAt(0));
const c=document.getElementById('gantt'),g=c.getContext('2d'),tip=document.getElementById('tip');
const busy=bytes(d.busy),bins=d.bins,n=d.ranks.length,left=70,axis=22;
const first=n>1?null:0; // of a single node its workers
let t0=0,t1=1,v0=0,v1=n,open=first,before=first,drag=null; // v0 to v1: nodes that are shown
let top=1;for(const v of busy)if(v>top)top=v; // the busiest is the darkest
const tasks={};for(const k in d.tasks){const t=d.tasks[k];tasks[k]={
s:new Uint32Array(bytes(t.s).buffer),e:new Uint32Array(bytes(t.e).buffer),
w:new Uint16Array(bytes(t.w).buffer),m:new Uint16Array(bytes(t.m).buffer)}}
const colour=i=>`hsl(${(i*137.5+205)%360} 55% ${44+(i*7)%18}%)`;
const unit=d.span>=2?[1,'s']:d.span>=2e-3?[1e3,'ms']:[1e6,'us'];
function rows(){return open===null?v1-v0:d.workers[open].length}
function size(){c.width=c.clientWidth*devicePixelRatio;
const h=open===null?Math.max(120,Math.min(rows()*18,520)):Math.max(60,rows()*20);
c.style.height=(h+axis)+'px';c.height=(h+axis)*devicePixelRatio;
g.setTransform(devicePixelRatio,0,0,devicePixelRatio,0,0)}
const W=()=>c.clientWidth-left,H=()=>c.clientHeight-axis;
const X=t=>left+(t-t0)/(t1-t0)*W();
const node=y=>Math.min(v1-1,v0+Math.floor(Math.max(y,0)/H()*(v1-v0)));
function nodes(){const w=W(),h=H(),rh=h/(v1-v0);
const a=Math.max(0,Math.floor(t0*bins)),b=Math.min(bins,Math.ceil(t1*bins));
const lines=rh>=1?v1-v0:h; // a row of pixels at least
for(let k=0;k<lines;k++){const r=v0+(rh>=1?k:Math.floor(k/rh)),y=rh>=1?k*rh:k;
for(let i=a;i<b;i++){const v=busy[r*bins+i];if(!v)continue;
g.fillStyle=`rgba(27,108,168,${v/top})`;
const x=Math.max(left,X(i/bins)),x2=Math.min(left+w,X((i+1)/bins));
g.fillRect(x,y,x2-x+.5,rh>=1?rh-(rh>6?1:0):1)}}
g.fillStyle='#333';g.font='11px system-ui';const step=Math.ceil(14/rh);
for(let r=v0;r<v1;r+=step)g.fillText('node '+d.ranks[r],2,(r-v0)*rh+Math.max(10,Math.min(rh,14)-2))}
function workers(){const list=d.workers[open],t=tasks[open],rh=H()/list.length;
g.font='11px system-ui';g.fillStyle='#333';list.forEach((w,i)=>g.fillText(w,2,i*rh+14));
if(!t){g.fillText('tasks of this node are not in the page (limit of '+d.limit+')',left+8,16);return}
const k=4294967295;for(let i=0;i<t.s.length;i++){const a=t.s[i]/k,b=t.e[i]/k;
if(b<t0||a>t1)continue;const x=Math.max(left,X(a)),x2=Math.min(left+W(),X(b));
g.fillStyle=colour(t.m[i]);g.fillRect(x,t.w[i]*rh+1,Math.max(x2-x,.6),rh-2)}}
function ticks(a,b,m){const raw=(b-a)/m,p=10**Math.floor(Math.log10(raw));
const s=p*([1,2,5].find(k=>k*p>=raw)||10),l=[];
for(let k=Math.ceil(a/s-1e-9);k*s<=b+1e-9*s;k++)l.push(k*s);return[l,Math.max(0,-Math.floor(Math.log10(s)+1e-9))]}
function draw(){tip.style.display='none';size();g.clearRect(0,0,c.clientWidth,c.clientHeight);
g.fillStyle='#f7f7f7';g.fillRect(left,0,W(),H());(open===null?nodes:workers)();
g.fillStyle='#333';g.font='11px system-ui';const m=Math.max(2,Math.min(8,Math.floor(W()/120)));
const scale=d.span*unit[0],[l,digits]=ticks(t0*scale,t1*scale,m);
for(const v of l){const x=X(v/scale),s=v.toFixed(digits)+' '+unit[1];
g.fillText(s,Math.min(x,c.clientWidth-8*s.length),H()+15);g.fillRect(Math.min(x,left+W()-1),H(),1,4)}
document.getElementById('where').textContent=open===null?
'Busy workers of each node ('+d.kind+', '+Math.round(top/2.55)+' % at the darkest). Click a node for its workers; drag to zoom, '+(n>32?'a box into some of the nodes, ':'')+'double-click for all.':
'Node '+d.ranks[open]+'. Drag to zoom, double-click for all of it'+(n>1?', Escape for the nodes.':'.')}
function at(e){const r=c.getBoundingClientRect();return[e.clientX-r.left,e.clientY-r.top]}
c.onmousedown=e=>{drag=at(e)};
c.onmouseup=e=>{if(!drag)return;if(e.detail<2)before=open;const[x,y]=at(e),[x0,y0]=drag;drag=null;
if(open===null&&n>32&&Math.abs(y-y0)>24){const a=node(Math.min(y,y0)),b=node(Math.max(y,y0));v0=a;v1=b+1}
if(Math.abs(x-x0)>5){const f=v=>t0+(Math.min(Math.max(v,left),left+W())-left)/W()*(t1-t0);
const a=f(Math.min(x,x0)),b=f(Math.max(x,x0));if(b-a>1e-9){t0=a;t1=b}}
else if(open===null&&y<H()&&Math.abs(y-y0)<=24)open=node(y);draw()};
c.ondblclick=()=>{open=before;t0=0;t1=1;v0=0;v1=n;draw()}; // its first click opened a node
document.addEventListener('keydown',e=>{if(e.key==='Escape'){open=first;t0=0;t1=1;v0=0;v1=n;draw()}});
c.onmousemove=e=>{const[x,y]=at(e);tip.style.display='none';if(x<left||y>H())return;
const t=t0+(x-left)/W()*(t1-t0);let text='';
if(open===null){const r=node(y);
text='node '+d.ranks[r]+': '+Math.round(busy[r*bins+Math.min(bins-1,Math.floor(t*bins))]/2.55)+' % busy'}
else if(tasks[open]){const k=4294967295,v=tasks[open],w=Math.floor(y/(H()/d.workers[open].length));
for(let i=0;i<v.s.length;i++)if(v.w[i]===w&&v.s[i]/k<=t&&t<=v.e[i]/k){
text=d.names[v.m[i]]+': '+((v.e[i]-v.s[i])/k*d.span*unit[0]).toPrecision(4)+' '+unit[1];break}}
if(text){tip.textContent=text;tip.style.display='block';
tip.style.left=(e.pageX+12)+'px';tip.style.top=(e.pageY+12)+'px'}};
document.getElementById('names').innerHTML=d.names.map((m,i)=>
`<span><i style="background:${colour(i)}"></i></span>`).join('');
[...document.getElementById('names').children].forEach((s,i)=>s.append(d.names[i]));
c.onmouseleave=()=>{tip.style.display='none'};
addEventListener('resize',draw);draw()})()
"""


def packed(values):
    return base64.b64encode(values.tobytes()).decode()


def busy_rows(run, accounts, kind):
    """Share of the node's workers of a kind that are busy, 0 to 255, node by node."""
    width_s = max(run.end_s - run.begin_s, 1e-12) / BINS
    rows = bytearray()
    for node in run.nodes:
        number = sum(1 for worker in node.workers if worker[2] == kind)
        busy = accounts.busy.get((node.rank, kind))
        rows += bytes(BINS) if not number else bytes(
            min(255, round(255 * seconds / (number * width_s))) for seconds in busy)
    return bytes(rows)


def tasks_of(run, node):
    begin_s, scale = run.begin_s, TICKS / max(run.end_s - run.begin_s, 1e-12)

    def ticks(dates):
        return array("I", (min(max(int((date_s - begin_s) * scale), 0), TICKS)
                           for date_s in dates))

    places = {worker: i for i, (worker, _, _) in enumerate(node.workers)}
    tasks, helped = node.tasks, [i for _, i in node.helped]
    started, ended, names = (array(column.typecode, column) for column in
                             (tasks.started, tasks.ended, tasks.name))
    for column, source in ((started, tasks.started), (ended, tasks.ended), (names, tasks.name)):
        column.extend(source[i] for i in helped)
    workers = [*tasks.worker, *(worker for worker, _ in node.helped)]
    return {"s": packed(ticks(started)), "e": packed(ticks(ended)),
            "w": packed(array("H", (places.get(w, 0) for w in workers))), "m": packed(names)}


def detailed_nodes(run, path):
    """Those whose tasks the page has: all, or those of the critical path first."""
    on_path = {}
    for step in path.steps:
        on_path[step.rank] = on_path.get(step.rank, 0) + 1
    order = sorted(range(len(run.nodes)), key=lambda i: (-on_path.get(run.nodes[i].rank, 0), i))
    left, chosen = MAX_TASKS, []
    for i in order:
        ntasks = len(run.nodes[i].tasks)
        if ntasks <= left:
            chosen.append(i)
            left -= ntasks
    return chosen


def view_data(run, accounts, path, kind, label):
    data = {"bins": BINS, "span": run.end_s - run.begin_s, "kind": label, "limit": MAX_TASKS,
            "ranks": [node.rank for node in run.nodes],
            "workers": [[name for _, name, _ in node.workers] for node in run.nodes],
            "names": run.codelets,
            "busy": base64.b64encode(busy_rows(run, accounts, kind)).decode(),
            "tasks": {i: tasks_of(run, run.nodes[i]) for i in detailed_nodes(run, path)}}
    return json.dumps(data).replace("</", "<\\/")


def view_html(run, accounts, path, kind, label):
    return ("<p id=where></p><canvas id=gantt></canvas><p id=names></p><div id=tip></div>"
            "<script id=run type=application/json>%s</script><script>%s</script>"
            % (view_data(run, accounts, path, kind, label), SCRIPT))
