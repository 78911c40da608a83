/** Shows JSON, folded where it is deep or long, and searchable. Values are text, never markup. */

import { useMemo, useState } from 'react';
import { Button, CopyButton, joined } from '../design/button.tsx';
import { formatBytes, formatCount, nameControls } from '../design/format.ts';
import { parseExactly, readScalar } from './exact-json.ts';
import { findPaths } from './json-search.ts';
import styles from './json-view.module.css';

/** The depth unfolded at first, and the members of one object rendered at once. */
const OPEN_DEPTH = 2;
const OPEN_MEMBERS = 40;
const MEMBERS_AT_ONCE = 200;
const TEXT_CHARACTERS = 500;
const SEARCHABLE_BYTES = 200;

type Found = { readonly open: ReadonlySet<string>; readonly hits: ReadonlySet<string> };

const NOT_SEARCHED: Found = { open: new Set(), hits: new Set() };

export function JsonView({ json, label }: { readonly json: string; readonly label: string }) {
  const [wanted, setWanted] = useState('');
  const value = useMemo<unknown>(() => parseExactly(json), [json]);
  const found = useMemo(() => (wanted.trim() === '' ? NOT_SEARCHED : findPaths(value, wanted.trim())), [value, wanted]);
  const isSearchable = json.length > SEARCHABLE_BYTES;
  return (
    <div className={joined(styles.view, !isSearchable && styles.small)}>
      <div className={styles.tools}>
        {isSearchable && (
          <input
            className={styles.search}
            type="search"
            aria-label={`Search in ${label}`}
            placeholder="Search"
            value={wanted}
            onChange={(event) => setWanted(event.target.value)}
          />
        )}
        {wanted !== '' && <span role="status">{formatCount(found.hits.size)} found</span>}
        <CopyButton text={json} />
      </div>
      <div className={styles.tree}>
        <Node key={wanted} name={null} value={value} path="" depth={0} found={found} />
      </div>
    </div>
  );
}

type NodeProps = {
  readonly name: string | null;
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
  readonly found: Found;
};

function Node(props: NodeProps) {
  const { value } = props;
  return typeof value === 'object' && value !== null ? <Branch {...props} value={value} /> : <Leaf {...props} />;
}

function Branch({ name, value, path, depth, found }: NodeProps & { readonly value: object }) {
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  const [isOpen, setOpen] = useState(
    found.open.has(path) || (found === NOT_SEARCHED && depth < OPEN_DEPTH && members.length <= OPEN_MEMBERS),
  );
  const [shown, setShown] = useState(MEMBERS_AT_ONCE);
  const [before, after] = isList ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) {
    return (
      <div className={styles.line}>
        <Name name={name} isHit={found.hits.has(path)} />
        <span className={styles.mark}>{before + after}</span>
      </div>
    );
  }
  return (
    <div>
      <button type="button" className={styles.fold} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className={styles.caret} aria-hidden="true" />
        <Name name={name} isHit={found.hits.has(path)} />
        <span className={styles.mark}>
          {isOpen ? before : `${before} ${formatCount(members.length)} ${isList ? 'items' : 'members'} ${after}`}
        </span>
      </button>
      {isOpen && (
        <div className={styles.members}>
          {members.slice(0, shown).map(([key, member]) => (
            <Node
              key={key}
              name={isList ? null : key}
              value={member}
              path={`${path}/${key}`}
              depth={depth + 1}
              found={found}
            />
          ))}
          {members.length > shown && (
            <Button small onClick={() => setShown(shown + MEMBERS_AT_ONCE)}>
              Show more of {formatCount(members.length)}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function Leaf({ name, value, path, found }: NodeProps) {
  const [isWhole, setWhole] = useState(false);
  const { text, isString: isText } = readScalar(value);
  const cut = isText && !isWhole && text.length > TEXT_CHARACTERS;
  return (
    <div className={styles.line}>
      <Name name={name} isHit={found.hits.has(path)} />
      <bdi className={isText ? styles.text : styles.scalar}>
        {isText ? `"${nameControls(cut ? text.slice(0, TEXT_CHARACTERS) : text.slice(0, WHOLE_CHARACTERS))}"` : text}
      </bdi>
      {cut && (
        <Button small onClick={() => setWhole(true)}>
          Show more of {formatBytes(text.length)}
        </Button>
      )}
    </div>
  );
}

/** Longer text would take the browser seconds to lay out; the copy button copies all of it. */
const WHOLE_CHARACTERS = 200_000;

function Name({ name, isHit }: { readonly name: string | null; readonly isHit: boolean }) {
  const text = name === null ? '' : `${nameControls(name)}: `;
  return isHit ? <mark className={styles.hit}>{text || '•'}</mark> : <bdi className={styles.name}>{text}</bdi>;
}
