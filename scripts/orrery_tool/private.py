# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The directory of one run."""
import fcntl
import os
import shutil
import tempfile


class PrivateDirectory:
    """Only the user can enter it, so nobody else can put a library or a program there.  One
    whose lock nobody holds belonged to a run that was killed: the next run removes it."""

    PREFIX, LOCK = "orrery-", "orrery.lock"

    def __init__(self, base):
        self.remove_stale(base)
        self.path = tempfile.mkdtemp(prefix=self.PREFIX, dir=base)
        # What has no lock yet is nobody's to remove.
        new = os.path.join(self.path, "new")
        self.lock = os.open(new, os.O_CREAT | os.O_WRONLY, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        os.rename(new, os.path.join(self.path, self.LOCK))

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)

    @classmethod
    def remove_stale(cls, base):
        for name in os.listdir(base):
            path = os.path.join(base, name)
            try:
                if not name.startswith(cls.PREFIX) or os.lstat(path).st_uid != os.getuid():
                    continue
                lock = os.open(os.path.join(path, cls.LOCK), os.O_WRONLY | os.O_NOFOLLOW)
            except OSError:
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            except OSError:
                pass # in use
            finally:
                os.close(lock)
