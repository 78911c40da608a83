// Plain JavaScript, so that a thread whose code is in the compile cache never loads what strips types: that takes
// more time and memory than all the rest, and is WebAssembly, in which V8 13.6 now and then crashes a process that
// has started and ended many threads.

import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';

// A thread does not take the cache over from the one that starts it.
enableCompileCache(workerData.compileCacheFolder ?? undefined);
await import('./thread-serve.ts');
// What only the start needed would stay resident. Later, because the server waits for the first answers.
setTimeout(() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }), 1_000).unref();
