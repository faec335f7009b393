//! Work that is shared by several threads, and makes more work.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use domain::Stop;

/// The last one in is the first one out: a walk that goes down before it goes on has few folders waiting.
#[derive(Debug)]
pub(crate) struct Queue<J> {
    waiting: Mutex<Waiting<J>>,
    more: Condvar,
}

#[derive(Debug)]
struct Waiting<J> {
    jobs: Vec<J>,
    /// Threads that are at a job, and may find more.
    busy: usize,
    idle: usize,
}

/// One thread is at one job, until this is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a, J> {
    queue: &'a Queue<J>,
    job: J,
}

impl<J> Default for Queue<J> {
    fn default() -> Self {
        let waiting = Mutex::new(Waiting { jobs: Vec::new(), busy: 0, idle: 0 });
        Self { waiting, more: Condvar::new() }
    }
}

impl<J> Queue<J> {
    fn lock(&self) -> MutexGuard<'_, Waiting<J>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, jobs: Vec<J>) {
        if jobs.is_empty() {
            return;
        }
        let mut waiting = self.lock();
        waiting.jobs.extend(jobs);
        if waiting.idle > 0 {
            self.more.notify_all();
        }
    }

    /// Waits while there may be more. Nothing, if all is done or everybody is to stop.
    pub(crate) fn next(&self, stop: &Stop) -> Option<Turn<'_, J>> {
        let mut waiting = self.lock();
        loop {
            if stop.is_asked() {
                return None;
            }
            if let Some(job) = waiting.jobs.pop() {
                waiting.busy += 1;
                return Some(Turn { queue: self, job });
            }
            if waiting.busy == 0 {
                return None;
            }
            waiting.idle += 1;
            waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.idle -= 1;
        }
    }
}

impl<J> Turn<'_, J> {
    pub(crate) fn job(&self) -> &J {
        &self.job
    }
}

impl<J> Drop for Turn<'_, J> {
    /// Also when whoever has the turn panics, so that nobody waits for ever.
    fn drop(&mut self) {
        let mut waiting = self.queue.lock();
        waiting.busy -= 1;
        if waiting.busy == 0 && waiting.idle > 0 {
            self.queue.more.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;
    use domain::Stop;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Each job is a number and makes all smaller ones; so there are 2^n.
    #[test]
    fn every_job_is_done_once_however_many_are_at_it() {
        for threads in 1..=4 {
            let (queue, done) = (Queue::default(), AtomicU64::new(0));
            queue.add(vec![12_u32]);
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        while let Some(turn) = queue.next(&Stop::default()) {
                            done.fetch_add(1, Ordering::Relaxed);
                            queue.add((0..*turn.job()).collect());
                        }
                    });
                }
            });
            assert_eq!(done.into_inner(), 1 << 12, "{threads}");
        }
    }

    #[test]
    fn a_stop_and_a_panic_leave_nobody_waiting() {
        let queue = Queue::default();
        queue.add(vec![(); 3]);
        let stop = Stop::default();
        std::thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _turn = queue.next(&stop).unwrap();
                std::panic::resume_unwind(Box::new(()));
            });
            assert!(panics.join().is_err());
            let drains = scope.spawn(|| while queue.next(&Stop::default()).is_some() {});
            assert!(drains.join().is_ok());
        });
        queue.add(vec![()]);
        stop.now();
        assert!(queue.next(&stop).is_none());
    }
}
