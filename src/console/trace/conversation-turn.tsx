/** One turn of a dialogue: a message, or a call of a tool with its result. */

import { Fragment, memo } from 'react';
import { Badge, Button, CopyButton, joined } from '../design/button.tsx';
import { formatDuration, nameControls } from '../design/format.ts';
import { MarkdownText } from '../markdown/markdown-text.tsx';
import styles from './conversation.module.css';
import { MediaView } from './conversation-media.tsx';
import { MODES, type Mode, useForms } from './conversation-mode.ts';
import type { CallTurn, MessageTurn, Turn, TurnOrigin } from './conversation-turns.ts';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import type { Part } from './messages.ts';

type TurnProps = {
  readonly turn: Turn;
  /** Selects the span that a turn belongs to; null where there is only one. */
  readonly onOpen: ((spanId: string) => void) | null;
};

export const TurnView = memo(function TurnView(props: TurnProps) {
  const { turn } = props;
  return turn.kind === 'call' ? <CallCard {...props} turn={turn} /> : <MessageCard {...props} turn={turn} />;
});

/** Instructions are long, and the same in every run. */
const FOLDED_ROLES: ReadonlySet<string> = new Set(['system', 'developer']);

function MessageCard({ turn, onOpen }: TurnProps & { readonly turn: MessageTurn }) {
  const { all, ofOne, turned, turn: fold } = useForms();
  const mode = ofOne.get(turn.key) ?? all;
  const isFoldable = FOLDED_ROLES.has(turn.role);
  const isOpen = !isFoldable || turned.has(turn.key);
  const role = nameControls(turn.role);
  return (
    <article className={joined(styles.turn, styles[toneOf(turn.role)])} aria-label={`Message, ${role}`}>
      <div className={styles.head}>
        {isFoldable ? (
          <button
            type="button"
            className={styles.fold}
            aria-expanded={isOpen}
            onClick={() => fold(turn.key)}
          >{`${role}: instructions, ${sizeOf(turn.parts)}`}</button>
        ) : (
          <span className={styles.role}>{role}</span>
        )}
        <Tools turn={turn} mode={mode} onOpen={onOpen} text={textOf(turn.parts)} />
      </div>
      {isOpen && mode === 'json' && <JsonView json={turn.json()} label={`the message of ${turn.role}`} />}
      {isOpen && mode !== 'json' && <Parts parts={turn.parts} mode={mode} />}
    </article>
  );
}

function toneOf(role: string): string {
  if (role === 'user') return 'user';
  if (role === 'error') return 'error';
  return role === 'assistant' || role === 'model' ? 'assistant' : 'other';
}

function CallCard({ turn, onOpen }: TurnProps & { readonly turn: CallTurn }) {
  const { all, ofOne } = useForms();
  const mode = ofOne.get(turn.key) ?? all;
  const { name, argumentsJson, result, failed, id, step, others } = turn;
  return (
    <article className={joined(styles.turn, styles.call, failed && styles.error)} aria-label={`Tool call, ${name}`}>
      <div className={styles.head}>
        <span className={styles.role}>
          Tool <span className={styles.name}>{nameControls(name)}</span>
        </span>
        {failed && <Badge tone="bad">failed</Badge>}
        {step && <span className={styles.note}>{formatDuration(step.ms)}</span>}
        {id !== null && <span className={styles.note}>Call id {nameControls(id)}</span>}
        <Tools turn={turn} mode={mode} onOpen={onOpen} text={textOf(result ?? [])} />
      </div>
      {mode === 'json' ? (
        <JsonView json={turn.json()} label={`the call of ${name}`} />
      ) : (
        <>
          {argumentsJson !== null && (
            <>
              <span className={styles.note}>Arguments</span>
              <JsonOrText mode={mode} text={argumentsJson} label={`arguments of ${name}`} />
            </>
          )}
          <span className={styles.note}>{result === null ? 'No result was sent.' : 'Result'}</span>
          {result !== null && <Parts parts={result} mode={mode} />}
          <Parts parts={others} mode={mode} />
        </>
      )}
    </article>
  );
}

type ToolsProps = TurnProps & { readonly mode: Mode; readonly text: string };

function Tools({ turn, mode, onOpen, text }: ToolsProps) {
  const { chooseOne } = useForms();
  const span: TurnOrigin | null = turn.kind === 'call' ? (turn.step ?? turn.origin) : turn.origin;
  return (
    <span className={styles.tools}>
      {span !== null && onOpen !== null && (
        <Button
          small
          variant="plain"
          className={styles.origin}
          title="Show this span"
          onClick={() => onOpen(span.spanId)}
        >
          {nameControls(span.name.slice(0, NAME_CHARACTERS))}
        </Button>
      )}
      <select
        className={styles.mode}
        aria-label="Show this message as"
        value={mode}
        onChange={({ target }) => chooseOne(turn.key, MODES.find(([each]) => each === target.value)?.[0] ?? 'rendered')}
      >
        {MODES.map(([each, label]) => (
          <option key={each} value={each}>
            {label}
          </option>
        ))}
      </select>
      <CopyButton text={mode === 'json' || text === '' ? turn.json() : text} />
    </span>
  );
}

const NAME_CHARACTERS = 60;

type PartsProps = { readonly parts: readonly Part[]; readonly mode: Mode };

function Parts({ parts, mode }: PartsProps) {
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no id, and their order never changes.
    <Fragment key={index}>
      <PartView part={part} mode={mode} />
    </Fragment>
  ));
}

function PartView({ part, mode }: { readonly part: Part; readonly mode: Mode }) {
  switch (part.kind) {
    case 'reasoning':
      return (
        <details>
          <summary className={styles.summary}>{`Reasoning, ${sizeOf([part])}`}</summary>
          <TextView text={part.text} mode={mode} />
        </details>
      );
    case 'media':
      return <MediaView media={part.media} />;
    case 'result':
      return <Parts parts={part.parts} mode={mode} />;
    case 'call':
      return <JsonOrText mode={mode} text={part.text} label={`arguments of ${part.name}`} />;
    default:
      return (
        <>
          {part.title && !UNTITLED.has(part.title) && <span className={styles.note}>{nameControls(part.title)}</span>}
          {part.kind === 'json' || isStructure(part.text) ? (
            <JsonOrText mode={mode} text={part.text} label={part.title ?? 'the message'} />
          ) : (
            <TextView text={part.text} mode={mode} />
          )}
        </>
      );
  }
}

/** The card around such a part says it already. */
const UNTITLED: ReadonlySet<string> = new Set(['input', 'output', 'result']);

function TextView({ text, mode }: { readonly text: string; readonly mode: Mode }) {
  return mode === 'raw' ? <LongText text={text} /> : <MarkdownText text={text} />;
}

function JsonOrText({ text, mode, label }: { readonly text: string; readonly mode: Mode; readonly label: string }) {
  return mode === 'raw' ? <LongText text={text} code /> : <JsonView json={text} label={label} />;
}

const STRUCTURE_CHARACTERS = 200_000;

/** Whether a text is a JSON object or list, as tools often return. */
function isStructure(text: string): boolean {
  if (text.length > STRUCTURE_CHARACTERS || !/^\s*(\{[\s\S]*\}|\[[\s\S]*\])\s*$/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function textOf(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (part.kind === 'media') return '';
      return part.kind === 'result' ? textOf(part.parts) : part.text;
    })
    .filter((text) => text !== '')
    .join('\n\n');
}

function sizeOf(parts: readonly Part[]): string {
  const { length } = textOf(parts);
  return `${length.toLocaleString('en')} characters`;
}
