import { rmSync } from 'node:fs';
import { openStore } from '../../src/storage/open.ts';
import { sampleAppend, sampleSpan, sampleRequest, randomHex } from './conformance/samples.ts';
const log={warn:console.warn,error:console.error};
for (const s of ['','-wal','-shm','.lock']) rmSync('/tmp/spike/d7.db'+s,{force:true});
const store=await openStore({url:'sqlite:/tmp/spike/d7.db',queueMaxBytes:64<<20,log});
const T='a'.repeat(32);
let t=performance.now(); 
for(let i=0;i<100;i++){ const spans=Array.from({length:500},()=>sampleSpan()); await store.traces.append(sampleAppend({traceId:T,spans,requests:spans.map((_,spanIndex)=>sampleRequest({spanIndex}))})); }
console.log('D7 50k spans ms',(performance.now()-t).toFixed(0),'spans/s',(50000/(performance.now()-t)*1000).toFixed(0));
t=performance.now(); const tr=await store.traces.find(1,T); console.log(tr!.spanCount, tr!.promptTokens); const s=await store.traces.summaries(1,tr!.sequence); console.log('summaries 50k ms',(performance.now()-t).toFixed(0), s.length);
t=performance.now(); const sp=await store.traces.spans(1,tr!.sequence,s.slice(0,10000).map(x=>x.spanId)); console.log('10k spans ms',(performance.now()-t).toFixed(0), sp.length);
const one=Array.from({length:1},()=>sampleSpan({spanId:s[0]!.spanId})); t=performance.now(); await store.traces.append(sampleAppend({traceId:T,spans:one,requests:[]})); console.log('replace in 50k ms',(performance.now()-t).toFixed(0));
// 100-span requests, 64 callers
let n=0; const make=()=>{const spans=Array.from({length:100},()=>sampleSpan()); return sampleAppend({spans,requests:spans.map((_,spanIndex)=>sampleRequest({spanIndex}))});};
const items=Array.from({length:600},make); t=performance.now(); const c0=process.threadCpuUsage();
await Promise.all(Array.from({length:64},async()=>{while(n<items.length) await store.traces.append(items[n++]!);})); const c=process.threadCpuUsage(c0); console.log('batch100 spans/s',(60000/(performance.now()-t)*1000).toFixed(0),'main us/span',((c.user+c.system)/60000).toFixed(1));
// events page
const org={id:'organization_1',number:1}; const base={organization:org,fromMs:0,toMs:9e15,type:null,limit:201} as const;
let after:any=null; const lat:number[]=[]; for(let i=0;i<400;i++){ t=performance.now(); const p=await store.events.list({...base,after}); lat.push(performance.now()-t); const l=p.at(-1)!; after={createdAtMs:l.createdAtMs,id:l.id}; } lat.sort((a,b)=>a-b); console.log('page p50',lat[200]!.toFixed(2),'p99',lat[395]!.toFixed(2));
const k0=performance.now(); for(let i=0;i<20000;i++) await store.keys.findApiKey('unknown'); console.log('findApiKey unknown us',((performance.now()-k0)/20).toFixed(1));
await store.close();
