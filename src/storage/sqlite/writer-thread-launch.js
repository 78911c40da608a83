// Plain JavaScript, so that a thread whose code is in the compile cache never loads what strips types.

import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';

// A thread does not take the cache over from the one that starts it.
if (workerData.compileCacheFolder !== null) enableCompileCache(workerData.compileCacheFolder);
await import('./writer-thread.ts');
