/** Replays the events of a range, and shows the progress. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useMutation, useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { EndpointService, ReplayStatus } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Badge, Button, Progress } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount } from '../design/format.ts';
import page from '../design/page.module.css';
import { type RangeSearch, readBounds } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { replayStatusName } from './webhook-enums.ts';

const route = getRouteApi('/-/webhooks/$endpointId');
const POLL_INTERVAL_MS = 1_000;
/** A replay in another status may continue. */
const ENDED: ReadonlySet<unknown> = new Set([ReplayStatus.COMPLETED, ReplayStatus.CANCELLED]);

export function Replay({ id }: { readonly id: string }) {
  const { replay } = route.useSearch();
  const navigate = route.useNavigate();
  const [range, setRange] = useState<RangeSearch>({ range: '24h' });
  const start = useMutation(EndpointService.method.replayEvents, {
    onSuccess: ({ data }) =>
      void navigate({ search: { tab: 'replay', replay: data?.replayId } as never, replace: true }),
  });
  const send = () => {
    const { fromMs, toMs } = readBounds(range);
    start.mutate({ id, createdFrom: timestampFromMs(fromMs), createdTo: timestampFromMs(toMs) });
  };
  return (
    <div className={`${page.card} ${page.padded}`}>
      <p>
        The events of the range that this endpoint subscribes to are sent again, in new deliveries; each keeps its id.
      </p>
      <div className={page.row}>
        <RangePicker search={range} onChange={(part) => setRange({ ...range, ...part } as typeof range)} />
        <Button variant="primary" disabled={start.isPending} onClick={send}>
          Replay
        </Button>
      </div>
      {start.isError && <FailureNotice error={start.error} />}
      {replay !== undefined && <ReplayProgress id={id} replayId={replay} />}
    </div>
  );
}

function ReplayProgress({ id, replayId }: { readonly id: string; readonly replayId: string }) {
  const found = useQuery(
    EndpointService.method.getReplay,
    { id, replayId },
    { refetchInterval: ({ state }) => (ENDED.has(state.data?.data?.status) ? false : POLL_INTERVAL_MS) },
  );
  const replay = found.data?.data;
  if (found.isError && !replay) return <FailureNotice error={found.error} retry={found.refetch} />;
  if (!replay) return null;
  const ended = Number(replay.delivered + replay.dead);
  const all = Number(replay.matched);
  const word = replayStatusName(replay.status);
  return (
    <div role="status">
      <Progress label="Replayed events" done={ended} all={all} />
      <p>
        <Badge tone={word.tone}>{word.text}</Badge> {formatCount(replay.delivered)} of {formatCount(replay.matched)}{' '}
        delivered
        {replay.dead > 0n && `, ${formatCount(replay.dead)} dead`}
      </p>
    </div>
  );
}
