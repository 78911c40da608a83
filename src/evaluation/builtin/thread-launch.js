// Plain JavaScript, so that a thread whose code is in the compile cache never loads what strips types: that takes
// more time and memory than all the rest, and threads of this pool come and go.

import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';

// A thread does not take the cache over from the one that starts it.
enableCompileCache(workerData.compileCacheFolder ?? undefined);
await import('./thread.ts');
