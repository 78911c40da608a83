/** A value that was sent as JSON, for reading: strings as text, members by name. */

import { useState } from 'react';
import { Button } from '../design/button.tsx';
import { formatBytes, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { parseExactly, readScalar, writeExactly } from '../trace/exact-json.ts';
import styles from './experiments.module.css';

const SHOWN_CHARACTERS = 1_000;
const MEMBERS_SHOWN = 20;

export function ValueView({ json }: { readonly json: string | undefined }) {
  if (json === undefined) return NONE;
  const value = parseExactly(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return <Text text={textOf(value)} />;
  const members = Object.entries(value);
  const [only] = members;
  // The name of a single member, such as "input", says nothing.
  if (only && members.length === 1) return <Text text={textOf(only[1])} />;
  return (
    <dl className={styles.members}>
      {members.slice(0, MEMBERS_SHOWN).map(([name, member]) => (
        <div key={name}>
          <dt>{nameControls(name)}</dt>
          <dd>
            <Text text={textOf(member)} />
          </dd>
        </div>
      ))}
      {members.length > MEMBERS_SHOWN && <dt>{members.length - MEMBERS_SHOWN} more</dt>}
    </dl>
  );
}

/** The same as one text. */
export function plainText(json: string): string {
  const value = parseExactly(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return textOf(value);
  const members = Object.entries(value);
  const [only] = members;
  if (only && members.length === 1) return textOf(only[1]);
  return members.map(([name, member]) => `${name}: ${textOf(member)}`).join('\n');
}

/** Its beginning, and all of it on request. */
function Text({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > SHOWN_CHARACTERS;
  return (
    <>
      <div className={page.prose}>{nameControls(isCut ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)}</div>
      {isCut && (
        <Button small variant="plain" onClick={() => setWhole(true)}>
          Show all {formatBytes(text.length)}
        </Button>
      )}
    </>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? writeExactly(value) : readScalar(value).text;
}
