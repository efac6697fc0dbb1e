/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "kernel.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <xbt/config.hpp>

namespace simgrid
{
namespace smpi
{
/* SMPI's data of an actor, of which no public header tells more than the name. */
class ActorExt
{
      public:
	__attribute__((weak)) static xbt::Extension<s4u::Actor, ActorExt> EXTENSION_ID;
};
} // namespace smpi
} // namespace simgrid

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

struct kernel {
	/* Looked up by address, never walked: the order of addresses must not matter. */
	std::unordered_map<s4u::Comm const *, kernel_flow *> flows;
	/* Ended; a communication must not be released inside its own end. */
	std::vector<s4u::CommPtr> ended;
	std::vector<s4u::Link *> route; /* as asked last */
};

static void on_completion(struct kernel *kernel, s4u::Activity const &activity)
{
	auto *comm = dynamic_cast<s4u::Comm const *>(&activity);
	if (!comm || kernel->flows.empty())
		return;
	auto found = kernel->flows.find(comm);
	if (found == kernel->flows.end())
		return;
	kernel_flow *flow = found->second;
	kernel->flows.erase(found);
	kernel->ended.emplace_back(const_cast<s4u::Comm *>(comm), false);
	flow->done(flow);
}

namespace
{
/*
 * A model without resources, which SimGrid asks last for its next event, as it does with
 * ns-3, telling when the next one of all others is: never, when nothing can go on.
 */
class IdleModel : public simgrid::kernel::resource::Model
{
	double (*on_step_)(double);

      public:
	explicit IdleModel(double (*on_step)(double)) : Model("orrery"), on_step_(on_step)
	{
	}
	bool next_occurring_event_is_idempotent() override
	{
		return false;
	}
	double next_occurring_event(double others) override
	{
		return on_step_(others);
	}
	void update_actions_state(double, double) override
	{
	}
};
} // namespace

struct kernel *kernel_new(void (*on_deadlock)(void), void (*on_arrival)(void),
			  double (*on_step)(double others_s), void (*on_end)(void))
{
	auto *kernel = new struct kernel;

	/* From here, it would let other actors run. */
	Timer::set(s4u::Engine::get_clock(), [on_step] {
		s4u::Engine::get_instance()->add_model(
			std::make_shared<IdleModel>(on_step), {});
	});
	s4u::Engine::on_deadlock_cb([on_deadlock] { on_deadlock(); });
	s4u::Engine::on_simulation_end_cb([on_end] { on_end(); });
	s4u::Activity::on_completion_cb([kernel](s4u::Activity const &activity) {
		on_completion(kernel, activity);
	});
	/* The state is the one before the change. */
	s4u::Link::on_communication_state_change_cb(
		[on_arrival](simgrid::kernel::resource::NetworkAction &,
			     simgrid::kernel::resource::Action::State before) {
			if (before == simgrid::kernel::resource::Action::State::STARTED)
				on_arrival();
		});
	return kernel;
}

void *kernel_timer_set(double date_s, void (*fire)(void *arg), void *arg)
{
	return Timer::set(date_s, [fire, arg] { fire(arg); });
}

void kernel_timer_remove(void *timer)
{
	static_cast<Timer *>(timer)->remove(); /* It deletes the timer, too. */
}

int kernel_is_there(void)
{
	return simgrid::s4u::Engine::is_initialized();
}

int kernel_config(const char *name, char *text, size_t bytes)
{
	std::string value;

	try {
		value = simgrid::config::get_value<std::string>(name);
	} catch (std::exception const &) {
		return -ENOENT;
	}
	if (value.size() >= bytes)
		return -ENOENT;
	memcpy(text, value.c_str(), value.size() + 1);
	return 0;
}

double kernel_route(struct kernel *kernel, const void *from, const void *to,
		    struct kernel_links *links)
{
	double latency_s = 0;

	kernel->route.clear();
	static_cast<s4u::Host const *>(from)->route_to(static_cast<s4u::Host const *>(to),
						       kernel->route, &latency_s);
	*links = {kernel->route.data(), kernel->route.size()};
	return latency_s;
}

void kernel_flow_start(struct kernel *kernel, struct kernel_flow *flow, void *from,
		       void *to, double bytes)
{
	if (kernel->ended.size() > 64)
		kernel->ended.clear();
	auto comm = s4u::Comm::sendto_init();
	comm->set_payload_size(bytes < 1 ? 1 : static_cast<uint64_t>(bytes));
	kernel->flows[comm.get()] = flow;
	intrusive_ptr_add_ref(comm.get()); /* Given to ended at the end. */
	comm->set_source(static_cast<s4u::Host *>(from));
	/* It starts when both ends are known. */
	comm->set_destination(static_cast<s4u::Host *>(to));
}

void kernel_charge_messages(double (*cost_s)(enum kernel_message kind, double bytes,
					     sg_host_t host))
{
	static constexpr struct {
		SmpiOperation operation;
		enum kernel_message kind;
	} all[] = {{SmpiOperation::ISEND, KERNEL_ISEND},
		   {SmpiOperation::SEND, KERNEL_SEND},
		   {SmpiOperation::RECV, KERNEL_RECEIVE}};

	for (auto const &one : all)
		smpi_register_op_cost_callback(
			one.operation,
			[cost_s, kind = one.kind](size_t bytes, s4u::Host *from,
						  s4u::Host *to) {
				return cost_s(kind, static_cast<double>(bytes),
					      kind == KERNEL_RECEIVE ? to : from);
			});
}

void kernel_hold(sg_sem_t sem)
{
	intrusive_ptr_add_ref(sem);
}

void kernel_release(sg_sem_t sem)
{
	s4u::SemaphorePtr held(sem, false);
	held->release();
}

void kernel_call(void (*call)(void *arg), void (*then)(void *arg), void *arg)
{
	struct At_end {
		void (*then)(void *arg);
		void *arg;
		~At_end()
		{
			then(arg);
		}
	} at_end{then, arg};

	call(arg);
}

struct Leave {
};

void kernel_catch(void (*call)(void *arg), void *arg)
{
	try {
		call(arg);
	} catch (const Leave &) {
		return;
	}
}

void kernel_leave()
{
	throw Leave();
}

namespace
{
/* Enough to reach the numbers of an actor and its parent, and less than an actor has. */
constexpr size_t HEAD_WORDS = 16;

bool has_numbers_at(const aid_t *words, s4u::Actor const &actor)
{
	return words[0] == actor.get_pid() && words[1] == actor.get_ppid();
}

/* Where both have theirs; NULL: the head of an actor is another one here. */
aid_t *number_of(s4u::Actor const &actor, s4u::Actor const &other)
{
	auto *words = reinterpret_cast<aid_t *>(actor.get_impl());
	auto *others = reinterpret_cast<const aid_t *>(other.get_impl());

	for (size_t i = 0; i + 1 < HEAD_WORDS; i++)
		if (has_numbers_at(words + i, actor) && has_numbers_at(others + i, other))
			return words + i;
	return nullptr;
}
} // namespace

void kernel_thread_begins(void)
{
	SMPI_thread_create();
}

int kernel_guise_take(sg_actor_t as, struct kernel_guise *guise)
{
	s4u::Actor *self = s4u::Actor::self();
	aid_t *number =
		&simgrid::smpi::ActorExt::EXTENSION_ID ? number_of(*self, *as) : nullptr;

	if (!number)
		return 0;
	size_t id = simgrid::smpi::ActorExt::EXTENSION_ID.id();
	*guise = {self->extension(id), number, *number};
	*number = as->get_pid();
	self->extension_set(id, as->extension(id), false);
	return 1;
}

void kernel_guise_leave(const struct kernel_guise *guise)
{
	*guise->place = guise->number;
	s4u::Actor::self()->extension_set(simgrid::smpi::ActorExt::EXTENSION_ID.id(),
					  guise->extension, false);
}

void *kernel_run_state(void *state)
{
	std::unique_ptr<std::thread::_State> own(
		static_cast<std::thread::_State *>(state));

	own->_M_run();
	return nullptr;
}

void kernel_fail(int code)
{
	throw std::system_error(code, std::generic_category());
}
