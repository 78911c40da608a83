import { Badge, Button } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount } from '../design/format.ts';
import type { Live } from './live.ts';
import styles from './trace-list-page.module.css';

const WORDS: { readonly [state in Live['state']]?: string } = {
  connecting: 'connecting…',
  waiting: 'connection lost, trying again…',
  paused: 'paused',
};

type LiveStatusProps = { readonly live: Live; readonly onLookAgain: () => void };

/** How following goes, where there is something to say about it. */
export function LiveStatus({ live, onLookAgain }: LiveStatusProps) {
  const word = WORDS[live.state];
  return (
    <>
      <span role="status" className={styles.liveStatus}>
        {word && <Badge tone={live.state === 'waiting' ? 'warn' : 'quiet'}>{word}</Badge>}
        {live.leftOut > 0 && (
          <>
            {formatCount(live.leftOut)} or more changes were left out.{' '}
            <Button small onClick={onLookAgain}>
              Look again
            </Button>
          </>
        )}
      </span>
      {live.state === 'refused' && <FailureNotice error={live.error} retry={onLookAgain} />}
    </>
  );
}
