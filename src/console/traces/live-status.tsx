import { Badge, Button } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount } from '../design/format.ts';
import type { Live } from './live.ts';
import styles from './trace-list-page.module.css';
import type { Arrivals } from './use-arrivals.ts';

const STATE_NAMES: { readonly [state in Live['state']]?: string } = {
  connecting: 'connecting…',
  waiting: 'connection lost, reconnecting…',
  paused: 'paused',
};

type LiveStatusProps = { readonly live: Live; readonly arrivals: Arrivals; readonly onReload: () => void };

/** The state of the live stream, if it is not simply live, and the new traces that wait. */
export function LiveStatus({ live, arrivals, onReload }: LiveStatusProps) {
  const stateName = STATE_NAMES[live.state];
  const { waiting, isPaused, onPause, release } = arrivals;
  return (
    <>
      {waiting > 0 && (
        <Button small variant="primary" title="They wait while you read the rows" onClick={release}>
          Show {formatCount(waiting)} new
        </Button>
      )}
      {live.state !== 'off' && (
        <Button small aria-pressed={isPaused} onClick={() => onPause(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      )}
      <span role="status" className={styles.liveStatus}>
        {stateName && <Badge tone={live.state === 'waiting' ? 'warn' : 'quiet'}>{stateName}</Badge>}
        {live.leftOut > 0 && (
          <>
            {formatCount(live.leftOut)} or more changes were left out.{' '}
            <Button small onClick={onReload}>
              Reload
            </Button>
          </>
        )}
      </span>
      {live.state === 'refused' && <FailureNotice error={live.error} retry={onReload} />}
    </>
  );
}
