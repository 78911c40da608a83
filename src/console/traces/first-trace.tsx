/** Shows in a project without traces how to send one, until the first arrives. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiKeyService, KeyType, PermissionMode, Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button, buttonClass, Snippet } from '../design/button.tsx';
import { SecretOnce } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page } from '../design/page.tsx';
import type { ProjectRef } from '../session/account.ts';
import { hideKey } from '../session/key.ts';
import { useProject, useSession } from '../session/session.tsx';
import styles from './first-trace.module.css';

const POLL_INTERVAL_MS = 1_500;
const NAME_CHARACTERS_MAX = 100;

/** Stands for the key in snippets that may not contain one; the user sets it in the shell. */
const PLACE_HOLDER = '$SPANDREL_KEY';
/** The quotes make a shell expand it. */
const QUOTED = `'"${PLACE_HOLDER}"'`;

export default function FirstTrace() {
  const project = useProject();
  const [made, setMade] = useState<string | null>(null);
  const found = useQuery(
    TraceService.method.searchTraces,
    { startDate: timestampFromMs(0), pageSize: 1 },
    { refetchInterval: POLL_INTERVAL_MS },
  );
  const view = found.data?.traces[0]?.view;
  const trace = view?.case === 'trace' ? view.value : null;
  const shell = curlOf(made ?? QUOTED);
  const exports = environmentOf(made ?? PLACE_HOLDER);
  const hide = (text: string) => (made === null ? text : text.replaceAll(made, hideKey(made)));
  return (
    <Page
      title="Send the first trace"
      sub={`${nameControls(project.name)} has no trace yet. Paste this into a shell; the trace appears here by itself.`}
    >
      {made === null && <NewSendingKey project={project} onMade={setMade} />}
      <Snippet title="With curl" code={shell} shown={hide(shell)} />
      <Snippet title="From an application that exports OpenTelemetry" code={exports} shown={hide(exports)} />
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      <div role="status" className={styles.state}>
        {trace === null ? (
          !found.isError && (
            <>
              <span className={styles.dot} aria-hidden="true" />
              Waiting for the first trace…
            </>
          )
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
    </Page>
  );
}

type NewSendingKeyProps = { readonly project: ProjectRef; readonly onMade: (token: string) => void };

/** Creates a key that only sends traces to this project. */
function NewSendingKey({ project, onMade }: NewSendingKeyProps) {
  const { may } = useSession();
  const [secret, setSecret] = useState<string | null>(null);
  const create = useMutation(ApiKeyService.method.createApiKey, { onSuccess: ({ token }) => setSecret(token) });
  const make = () =>
    create.mutate({
      keyType: KeyType.SERVICE,
      name: `sends traces to ${project.name}`.slice(0, NAME_CHARACTERS_MAX),
      permissionMode: PermissionMode.RESTRICTED,
      permissions: ['traces:create'],
      bindings: [{ role: Role.CUSTOM, scopeType: ScopeType.PROJECT, scopeId: project.id }],
    });
  return (
    <div className={`${page.card} ${page.padded}`}>
      <p>
        <code>{PLACE_HOLDER}</code> stands for the key of the project, which was shown when the project was made.
      </p>
      {may('organization:manage') && (
        <div>
          <Button disabled={create.isPending} onClick={make}>
            Create a key that only sends traces
          </Button>
        </div>
      )}
      {create.isError && <FailureNotice error={create.error} />}
      <SecretOnce
        secret={secret}
        title="The new key"
        onClose={() => {
          if (secret !== null) onMade(secret);
          setSecret(null);
        }}
      />
    </div>
  );
}

function curlOf(key: string): string {
  return `now=$(date +%s)000
curl -s ${location.origin}/api/collector \\
  -H 'X-Auth-Token: ${key}' \\
  -H 'Content-Type: application/json' \\
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

function environmentOf(key: string): string {
  return `export OTEL_EXPORTER_OTLP_ENDPOINT=${location.origin}/api/otel
export OTEL_EXPORTER_OTLP_HEADERS="x-auth-token=${key}"`;
}
