// Plain JavaScript, so that a thread with a warm compile cache never loads the type stripper, which would take more time
// and memory than everything else.

import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';

// Threads do not inherit the compile cache.
enableCompileCache(workerData.compileCacheFolder ?? undefined);
await import('./thread.ts');
