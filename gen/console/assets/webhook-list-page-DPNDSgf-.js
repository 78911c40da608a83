import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{t}from"./use-infinite-query-Be13phjH.js";import{B as n,Y as r,y as i}from"./index-C8P0cbwD.js";import{h as a,l as o,m as s,t as c}from"./button-C-XJTPF9.js";import{i as l}from"./endpoints_pb-Am4GAJkE.js";import{a as u,o as d}from"./confirm-BB9A1Gji.js";import{g as f}from"./format-CVVSOebg.js";import{i as p,n as m}from"./frame-DlTzi1a_.js";import{t as h}from"./page.module-ygb3LELh.js";import{n as g}from"./table-BHi01Npv.js";import{n as _,r as v}from"./refresh-CzKPSgjD.js";import{i as y,s as b,t as x}from"./webhook-enums-SSMcLpIG.js";var S=e(a(),1),C=s(),w={url:``,description:``,events:[`*`]};function T({onClose:e,onMade:t}){let n=_(),r=v(l.method.createEndpoint,{onSuccess({data:r}){e(),t(r?.secret??``),n()}});return(0,C.jsx)(b,{start:w,action:`Create the endpoint`,call:r,onSubmit:({url:e,description:t,events:n})=>r.mutate({destination:{case:`url`,value:e??``},enabledEvents:[...n],...t&&{description:t}}),onCancel:e})}var E=100;function D(){let{may:e}=i(),[r,a]=(0,S.useState)(null),s=t(l.method.listEndpoints,{pageSize:E,pageToken:``},n);return(0,C.jsx)(m,{title:`Webhooks`,sub:`Signed HTTP calls that deliver the events of the organization to your servers.`,actions:e(`webhookEndpoints:manage`)&&(0,C.jsx)(u,{label:`New endpoint`,variant:`primary`,children:e=>(0,C.jsx)(T,{onClose:e,onMade:a})}),found:s,items:p,empty:{title:`No endpoint yet`,text:`Create one: each event it subscribes to is sent to its URL until the receiver accepts it.`},columns:[`Destination`,`Status`,`Events`,`Last delivered`,`Created`],row:O,children:(0,C.jsx)(d,{secret:r,title:`The secret of the endpoint`,onClose:()=>a(null),children:(0,C.jsx)(o,{title:`A receiver that verifies, in Node`,code:k})})})}function O(e){let t=y(e.status,e.failingSince);return(0,C.jsxs)(`tr`,{children:[(0,C.jsx)(`td`,{className:h.mono,children:(0,C.jsx)(r,{to:`/-/webhooks/$endpointId`,params:{endpointId:e.id},children:f(x(e))})}),(0,C.jsx)(`td`,{children:(0,C.jsx)(c,{tone:t.tone,children:t.text})}),(0,C.jsx)(`td`,{className:h.mono,children:f(e.enabledEvents.map(e=>e===`*`?`all`:e).join(`, `))}),(0,C.jsx)(g,{at:e.lastSuccessAt}),(0,C.jsx)(g,{at:e.createdAt})]},e.id)}var k=`import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook('whsec_…');
createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const { batch } = webhook.verify(Buffer.concat(chunks), request.headers);
    console.log(batch.map((event) => event.type));
    response.writeHead(204).end();
  } catch {
    response.writeHead(401).end();
  }
}).listen(8080);`;export{D as default};