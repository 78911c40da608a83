// Plain JavaScript for the reasons that writer-thread-launch.js has.

import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';

// A thread does not take the cache over from the one that starts it.
enableCompileCache(workerData.compileCacheFolder ?? undefined);
await import('./reader-thread.ts');
