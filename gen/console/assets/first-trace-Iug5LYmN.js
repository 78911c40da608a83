import{t as e}from"./use-query-VzO80VHl.js";import{V as t,W as n,c as r,d as i,g as a,l as o}from"./index-CLAamw83.js";import{o as s,s as c,u as l}from"./button-Bub3SRlg.js";var u={state:`_state_qfx4c_1`,dot:`_dot_qfx4c_9`,breathe:`_breathe_qfx4c_1`},d=l(),f=1500;function p(){let l=r(),{account:p}=o(),g=e(a.method.searchTraces,{pageSize:1},{refetchInterval:f}).data?.traces[0]?.view,_=g?.case===`trace`?g.value:null,v=m({key:p.key,projectId:p.keyId===null?null:l.id});return(0,d.jsxs)(`div`,{className:t.page,children:[(0,d.jsx)(`h1`,{children:`Send the first trace`}),(0,d.jsxs)(`p`,{className:t.sub,children:[l.name,` has no traces of the last 30 days. Paste this into a shell; the trace appears here by itself.`]}),(0,d.jsx)(s,{title:`With curl`,code:v,shown:v.replaceAll(p.key,i(p.key))}),(0,d.jsx)(s,{title:`From an application that exports OpenTelemetry`,code:h(p.key,l.id),shown:h(i(p.key),l.id)}),(0,d.jsx)(`div`,{role:`status`,className:u.state,children:_===null?(0,d.jsxs)(d.Fragment,{children:[(0,d.jsx)(`span`,{className:u.dot,"aria-hidden":`true`}),`Waiting for the first trace…`]}):(0,d.jsxs)(d.Fragment,{children:[(0,d.jsx)(`span`,{children:`The first trace has arrived.`}),(0,d.jsx)(n,{to:`/$slug/traces/$traceId`,params:{slug:l.slug,traceId:_.traceId},className:c(`primary`),children:`Open it`})]})})]})}function m({key:e,projectId:t}){let n=t===null?``:`  -H 'X-Project-Id: ${t}' \\\n`;return`now=$(date +%s)000
curl -s ${location.origin}/api/collector \\
  -H 'X-Auth-Token: ${e}' \\
${n}  -H 'Content-Type: application/json' \\
  -d '{
    "trace_id": "first-'$now'",
    "spans": [{
      "type": "llm", "span_id": "answer-'$now'", "name": "answer", "vendor": "openai", "model": "gpt-5-mini",
      "input": {"type": "chat_messages", "value": [{"role": "user", "content": "What is a spandrel?"}]},
      "output": {"type": "text", "value": "The space between an arch and what frames it."},
      "metrics": {"prompt_tokens": 14, "completion_tokens": 12},
      "timestamps": {"started_at": '$now', "finished_at": '$now'}
    }]
  }'`}function h(e,t){return`export OTEL_EXPORTER_OTLP_ENDPOINT=${location.origin}/api/otel
export OTEL_EXPORTER_OTLP_HEADERS="x-auth-token=${e},x-project-id=${t}"`}export{p as FirstTrace};