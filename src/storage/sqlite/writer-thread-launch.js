// Plain JavaScript, so that a thread whose code is in the compile cache never loads what strips types.

import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { workerData } from 'node:worker_threads';

// What strips types is WebAssembly. V8 13.6 now and then crashes the process when it optimises the way from there
// back to JavaScript in a thread after other threads came and went; the optimisation is not worth anything here.
setFlagsFromString('--wasm-wrapper-tiering-budget=1000000000');
// A thread does not take the cache over from the one that starts it.
enableCompileCache(workerData.compileCacheFolder ?? undefined);
await import('./writer-thread.ts');
