/** The actions on a trace. */

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { CopyButton } from '../design/button.tsx';
import { ConfirmButton, ModalButton } from '../design/confirm.tsx';
import { Popover } from '../design/popover.tsx';
import { useProject, useSession } from '../session/session.tsx';
import { ShareTrace } from './share-trace.tsx';
import styles from './trace-head.module.css';

/** Omits the key, because people paste such commands into chats. */
function curlOf(traceId: string, projectId: string | null): string {
  const named = projectId === null ? '' : ` -H 'X-Project-Id: ${projectId}'`;
  const id = encodeURIComponent(traceId).replaceAll("'", '%27');
  return `curl -s '${location.origin}/api/traces/${id}' -H "X-Auth-Token: $SPANDREL_PROJECT_KEY"${named}`;
}

export function TraceActions({ trace }: { readonly trace: Trace }) {
  const { account, may } = useSession();
  const { id, slug } = useProject();
  const navigate = useNavigate();
  const client = useQueryClient();
  return (
    <Popover label="Actions" title="Actions">
      {() => (
        <div className={styles.menu}>
          <CopyButton text={curlOf(trace.traceId, account.isOfProject ? null : id)}>Copy as curl</CopyButton>
          <CopyButton text={trace.traceId}>Copy id</CopyButton>
          {may('traces:share') && (
            <ModalButton label="Share…" title="Share this trace" small>
              {(close) => <ShareTrace traceId={trace.traceId} onClose={close} />}
            </ModalButton>
          )}
          {may('project:manage') && (
            <ConfirmButton
              label="Delete"
              small
              variant="danger"
              title="Delete this trace"
              action="Delete permanently"
              typed="delete"
              method={TraceService.method.deleteTrace}
              input={{ traceId: trace.traceId }}
              onDone={() => navigate({ to: '/$slug/traces', params: { slug } })}
              refresh={() => client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === 'connect-query' })}
            >
              Its spans and evaluations go with it. This cannot be undone.
            </ConfirmButton>
          )}
        </div>
      )}
    </Popover>
  );
}
