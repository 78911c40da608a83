import { rmSync } from 'node:fs';
import { openStore } from '../../src/storage/open.ts';
import { sampleAppend, sampleSpan } from './conformance/samples.ts';
const log={warn:console.warn,error:console.error};
for (const s of ['','-wal','-shm','.lock']) rmSync('/tmp/spike/d7.db'+s,{force:true});
const store=await openStore({url:'sqlite:/tmp/spike/d7.db',queueMaxBytes:64<<20,log});
const T='a'.repeat(32);
for(let i=0;i<20;i++){ const spans=Array.from({length:500},()=>sampleSpan()); await store.traces.append(sampleAppend({traceId:T,spans,requests:[]})); }
const tr=await store.traces.find(1,T);
for(let i=0;i<12;i++){ let t=performance.now(); const s=await store.traces.summaries(1,tr!.sequence); const a=performance.now()-t; t=performance.now(); const sp=await store.traces.spans(1,tr!.sequence,s.map(x=>x.spanId)); console.log('summaries',a.toFixed(0),'spans',(performance.now()-t).toFixed(0), sp.length); }
await store.close();
