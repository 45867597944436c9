/** Preloaded into the services of a stack: they end when the stack's process is gone, even if that was killed. */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
