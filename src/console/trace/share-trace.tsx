/** Makes links by which anyone reads a trace, and lists and revokes them. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type TraceShare, TraceShareService } from '../../../gen/spandrel/v1/trace_shares_pb.js';
import { Button, Snippet } from '../design/button.tsx';
import { ConfirmButton } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { SelectField } from '../design/form.tsx';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';

const DAY_MS = 86_400_000;
const TERMS = [
  [1, '1 day'],
  [7, '7 days'],
  [30, '30 days'],
  [365, '1 year'],
] as const;
const TERM_DEFAULT: Term = 30;
type Term = (typeof TERMS)[number][0];

type ShareTraceProps = { readonly traceId: string; readonly onClose: () => void };

/** The content of a dialog. */
export function ShareTrace({ traceId, onClose }: ShareTraceProps) {
  const [days, setDays] = useState<Term>(TERM_DEFAULT);
  const found = useQuery(TraceShareService.method.listTraceShares, { traceId });
  const make = useMutation(TraceShareService.method.createTraceShare, { onSuccess: () => found.refetch() });
  return (
    <>
      <p>Whoever has the link reads this trace with all of its texts and metadata, without an account.</p>
      <form
        className={page.lookup}
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate({ traceId, expiresAt: timestampFromMs(Date.now() + days * DAY_MS) });
        }}
      >
        <SelectField label="Expires after" value={days} options={TERMS} onChange={setDays} />
        <Button type="submit" variant="primary" disabled={make.isPending}>
          Make a link
        </Button>
      </form>
      {make.isError && <FailureNotice error={make.error} />}
      {make.data && (
        <div role="status">
          <p>Copy it now. It will not be shown again.</p>
          <Snippet title="Link" code={make.data.url} />
        </div>
      )}
      <Pending found={found} />
      {found.data && found.data.shares.length > 0 && (
        <Table columns={['Made', 'Expires', 'Actions']} caption="Links to this trace">
          {found.data.shares.map((share) => (
            <ShareRow
              key={share.id}
              share={share}
              onRevoked={() => {
                // What leads nowhere is not offered any more.
                if (share.id === make.data?.share?.id) make.reset();
                void found.refetch();
              }}
            />
          ))}
        </Table>
      )}
      <div>
        <Button onClick={onClose}>Close</Button>
      </div>
    </>
  );
}

function ShareRow({ share, onRevoked }: { readonly share: TraceShare; readonly onRevoked: () => void }) {
  return (
    <tr>
      <InstantCell at={share.createdAt} />
      <InstantCell at={share.expiresAt} as="short" />
      <td>
        <ConfirmButton
          label="Revoke"
          small
          variant="danger"
          title="Revoke this link"
          action="Revoke the link"
          typed="revoke"
          method={TraceShareService.method.revokeTraceShare}
          input={{ traceShareId: share.id }}
          refresh={onRevoked}
        >
          It leads nowhere from then on. This cannot be undone.
        </ConfirmButton>
      </td>
    </tr>
  );
}
