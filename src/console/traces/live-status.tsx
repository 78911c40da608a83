import { Badge, Button } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount } from '../design/format.ts';
import type { Live } from './live.ts';
import styles from './trace-list-page.module.css';

const STATE_NAMES: { readonly [state in Live['state']]?: string } = {
  connecting: 'connecting…',
  waiting: 'connection lost, reconnecting…',
  paused: 'paused',
};

type LiveStatusProps = { readonly live: Live; readonly onReload: () => void };

/** The state of the live stream, if it is not simply live. */
export function LiveStatus({ live, onReload }: LiveStatusProps) {
  const stateName = STATE_NAMES[live.state];
  return (
    <>
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
