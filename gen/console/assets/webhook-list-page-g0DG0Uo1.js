import{t as e}from"./use-infinite-query-BAtOYu-k.js";import{B as t,S as n,tt as r}from"./index-B98Cck5T.js";import{c as i,f as a,h as o,p as s,t as c}from"./button-qRggqA7R.js";import{i as l}from"./endpoints_pb-CtdNHtSy.js";import{a as u,o as d}from"./confirm-BcUWAusp.js";import{f}from"./format-CmKpDDsQ.js";import{i as p,n as m}from"./frame-C6AqJu0l.js";import{r as h}from"./use-transport-owVJEiM4.js";import{n as g}from"./table-CSnxzm0F.js";import{n as _,r as v}from"./refresh-hKr9rD-6.js";import{i as y,s as b,t as x}from"./webhook-enums-CnVyYHRj.js";var S=o(s(),1),C=a(),w={url:``,description:``,events:[`*`]};function T({onClose:e,onMade:t}){let n=_(),r=v(l.method.createEndpoint,{onSuccess({data:r}){e(),t(r?.secret??``),n()}});return(0,C.jsx)(b,{start:w,action:`Create the endpoint`,call:r,onSubmit:({url:e,description:t,events:n})=>r.mutate({destination:{case:`url`,value:e??``},enabledEvents:[...n],...t&&{description:t}}),onCancel:e})}var E=100;function D(){let{may:r}=n(),[a,o]=(0,S.useState)(null),s=e(l.method.listEndpoints,{pageSize:E,pageToken:``},t);return(0,C.jsx)(m,{title:`Webhooks`,sub:`Events of the organization, pushed to receivers of yours, signed.`,actions:r(`webhookEndpoints:manage`)&&(0,C.jsx)(u,{label:`New endpoint`,variant:`primary`,children:e=>(0,C.jsx)(T,{onClose:e,onMade:o})}),found:s,items:p,empty:{title:`No endpoint yet`,text:`Create one: every event that it subscribes to is sent to its URL until the receiver accepts it.`},columns:[`Destination`,`Status`,`Events`,`Last delivered`,`Created`],row:O,children:(0,C.jsx)(d,{secret:a,title:`The secret of the endpoint`,onClose:()=>o(null),children:(0,C.jsx)(i,{title:`A receiver that verifies, in Node`,code:k})})})}function O(e){let t=y(e.status,e.failingSince);return(0,C.jsxs)(`tr`,{children:[(0,C.jsx)(`td`,{className:h.mono,children:(0,C.jsx)(r,{to:`/-/webhooks/$endpointId`,params:{endpointId:e.id},children:f(x(e))})}),(0,C.jsx)(`td`,{children:(0,C.jsx)(c,{tone:t.tone,children:t.text})}),(0,C.jsx)(`td`,{className:h.mono,children:f(e.enabledEvents.map(e=>e===`*`?`all`:e).join(`, `))}),(0,C.jsx)(g,{at:e.lastSuccessAt}),(0,C.jsx)(g,{at:e.createdAt})]},e.id)}var k=`import { createServer } from 'node:http';
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