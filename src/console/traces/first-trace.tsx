/** What a project without traces shows: how to send one, and that it has come. */

import { useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { buttonClass, Snippet } from '../design/button.tsx';
import page from '../design/page.module.css';
import { hideKey } from '../session/key.ts';
import { useProject, useSession } from '../session/session.tsx';
import styles from './first-trace.module.css';

const LOOK_MS = 1_500;

export function FirstTrace() {
  const project = useProject();
  const { account } = useSession();
  const found = useQuery(TraceService.method.searchTraces, { pageSize: 1 }, { refetchInterval: LOOK_MS });
  const view = found.data?.traces[0]?.view;
  const trace = view?.case === 'trace' ? view.value : null;
  const shell = curlOf({ key: account.key, projectId: account.keyId === null ? null : project.id });
  return (
    <div className={page.page}>
      <h1>Send the first trace</h1>
      <p className={page.sub}>
        {project.name} has no traces of the last 30 days. Paste this into a shell; the trace appears here by itself.
      </p>
      <Snippet title="With curl" code={shell} shown={shell.replaceAll(account.key, hideKey(account.key))} />
      <Snippet
        title="From an application that exports OpenTelemetry"
        code={environmentOf(account.key, project.id)}
        shown={environmentOf(hideKey(account.key), project.id)}
      />
      <div role="status" className={styles.state}>
        {trace === null ? (
          <>
            <span className={styles.dot} aria-hidden="true" />
            Waiting for the first trace…
          </>
        ) : (
          <>
            <span>The first trace has arrived.</span>
            <Link
              to="/$slug/traces/$traceId"
              params={{ slug: project.slug, traceId: trace.traceId }}
              className={buttonClass('primary')}
            >
              Open it
            </Link>
          </>
        )}
      </div>
    </div>
  );
}

function curlOf({ key, projectId }: { readonly key: string; readonly projectId: string | null }): string {
  const named = projectId === null ? '' : `  -H 'X-Project-Id: ${projectId}' \\\n`;
  return `now=$(date +%s)000
curl -s ${location.origin}/api/collector \\
  -H 'X-Auth-Token: ${key}' \\
${named}  -H 'Content-Type: application/json' \\
  -d '{
    "trace_id": "first-'$now'",
    "spans": [{
      "type": "llm", "span_id": "answer-'$now'", "name": "answer", "vendor": "openai", "model": "gpt-5-mini",
      "input": {"type": "chat_messages", "value": [{"role": "user", "content": "What is a spandrel?"}]},
      "output": {"type": "text", "value": "The space between an arch and what frames it."},
      "metrics": {"prompt_tokens": 14, "completion_tokens": 12},
      "timestamps": {"started_at": '$now', "finished_at": '$now'}
    }]
  }'`;
}

function environmentOf(key: string, projectId: string): string {
  return `export OTEL_EXPORTER_OTLP_ENDPOINT=${location.origin}/api/otel
export OTEL_EXPORTER_OTLP_HEADERS="x-auth-token=${key},x-project-id=${projectId}"`;
}
