import { useState } from 'react';
import { Button } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { FailureNotice } from '../design/failure.tsx';
import { TextField } from '../design/form.tsx';
import styles from './sign-in.module.css';

type SignInProps = {
  readonly onKey: (key: string) => void;
  readonly error: unknown;
  /** Whether the browser had a session that is no longer valid. */
  readonly hasEnded: boolean;
};

export function SignIn({ onKey, error, hasEnded }: SignInProps) {
  const [key, setKey] = useState('');
  return (
    <main className={styles.main}>
      <form
        className={styles.card}
        onSubmit={(event) => {
          event.preventDefault();
          const entered = key.trim();
          if (entered !== '') onKey(entered);
        }}
      >
        <div>
          <p className={styles.brand}>Spandrel</p>
          <h1>Sign in with a key</h1>
        </div>
        {hasEnded && <p role="alert">Your session has ended. Sign in again.</p>}
        {error != null && <FailureNotice error={error} />}
        <TextField
          label="Key"
          hint="An API key of the organization, or the key of a project. The browser gets a session in its place and does not keep the key."
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="sk-lw-…"
          value={key}
          onChange={setKey}
        />
        <Button type="submit" variant="primary" disabled={key.trim() === ''}>
          Sign in
        </Button>
        <p className={controls.hint}>
          The first start of the server printed two keys, and a link that signs in. <code>npx spandrel --help</code>{' '}
          says how to make another.
        </p>
      </form>
    </main>
  );
}
