/** Asks before the key of a link signs the user in: whoever sent the link may see what the user does with it. */

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Button, Loading } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { FailureNotice } from '../design/failure.tsx';
import { readHome } from './account.ts';
import { hideKey } from './key.ts';
import styles from './sign-in.module.css';
import { createKeyTransport } from './transport.ts';

type OfferedKeyProps = {
  readonly token: string;
  readonly onAccept: () => void;
  readonly onRefuse: () => void;
};

export function OfferedKey({ token, onAccept, onRefuse }: OfferedKeyProps) {
  const transport = useMemo(() => createKeyTransport(token), [token]);
  const home = useQuery({ queryKey: ['home', token], queryFn: () => readHome(transport), gcTime: 0 });
  if (home.isPending) return <Loading />;
  return (
    <main className={styles.main}>
      <div className={styles.card}>
        <div>
          <p className={styles.brand}>Spandrel</p>
          <h1>Sign in to {home.data ?? hideKey(token)}?</h1>
        </div>
        {home.isError ? (
          <FailureNotice error={home.error} />
        ) : (
          <p className={controls.hint}>
            The link that you opened has a key of{' '}
            {home.data === null ? 'an organization' : <strong>{home.data}</strong>}. Go on only if you trust whoever
            sent it: others who have access there see what you enter.
          </p>
        )}
        {!home.isError && (
          <Button variant="primary" onClick={onAccept}>
            Sign in
          </Button>
        )}
        <Button onClick={onRefuse}>Use another key</Button>
      </div>
    </main>
  );
}
