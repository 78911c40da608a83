import { useState } from 'react';
import { Button, buttonClass } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { FailureNotice } from '../design/failure.tsx';
import { TextField } from '../design/form.tsx';
import { KEYS_SIGN_IN, SIGN_IN_ISSUER } from './account.ts';
import styles from './sign-in.module.css';

type SignInProps = {
  readonly onKey: (key: string) => void;
  readonly error: unknown;
  /** Whether the browser had a session that is no longer valid. */
  readonly hasEnded: boolean;
};

export function SignIn({ onKey, error, hasEnded }: SignInProps) {
  return (
    <main className={styles.main}>
      <div className={styles.card}>
        <div>
          <p className={styles.brand}>Spandrel</p>
          <h1>{SIGN_IN_ISSUER === null ? 'Sign in with a key' : 'Sign in'}</h1>
        </div>
        {hasEnded && <p role="alert">Your session has ended. Sign in again.</p>}
        {error != null && <FailureNotice error={error} />}
        {SIGN_IN_ISSUER !== null && <IssuerLink host={SIGN_IN_ISSUER} />}
        {KEYS_SIGN_IN && <KeyForm onKey={onKey} />}
      </div>
    </main>
  );
}

/** A link, because the page may send no forms. The issuer leads back to this page. */
function IssuerLink({ host }: { readonly host: string }) {
  const returnTo = new URLSearchParams({ returnTo: location.pathname + location.search });
  return (
    <a className={buttonClass('primary')} href={`/api/auth/login?${returnTo}`}>
      Sign in with {host}
    </a>
  );
}

function KeyForm({ onKey }: Pick<SignInProps, 'onKey'>) {
  const [key, setKey] = useState('');
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        const entered = key.trim();
        if (entered !== '') onKey(entered);
      }}
    >
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
      <Button type="submit" variant={SIGN_IN_ISSUER === null ? 'primary' : undefined} disabled={key.trim() === ''}>
        {SIGN_IN_ISSUER === null ? 'Sign in' : 'Sign in with the key'}
      </Button>
      <p className={controls.hint}>
        The first start of the server printed two keys, and a link that signs in. <code>npx spandrel --help</code> says
        how to make another.
      </p>
    </form>
  );
}
