/**
 * Shows Markdown as React elements, made from the parser's tokens. Sent HTML stays text, links lead only to the web and to mail
 * addresses, and a picture is requested from nowhere.
 */

import MarkdownIt, { type Token } from 'markdown-it';
import { Fragment, type ReactNode, useMemo } from 'react';
import { nameControls } from '../design/format.ts';
import { MediaView } from '../trace/conversation-media.tsx';
import { sourceOf } from '../trace/messages-media.ts';
import { CodeBlock } from './code-block.tsx';
import styles from './markdown.module.css';

const parser = new MarkdownIt({ html: false, linkify: false, breaks: true });
/** All addresses are parsed; `safeHref` decides which of them become links. */
parser.validateLink = () => true;

/** Deeper elements are put beside each other: a browser fails on very deep ones. */
const DEPTH_MAX = 40;

type Tag = 'p' | 'ul' | 'ol' | 'li' | 'blockquote' | 'em' | 'strong' | 's' | 'tr' | 'th' | 'td' | 'thead' | 'tbody';
const TAGS: ReadonlySet<string> = new Set<Tag>([
  'p',
  'ul',
  'ol',
  'li',
  'blockquote',
  'em',
  'strong',
  's',
  'tr',
  'th',
  'td',
  'thead',
  'tbody',
]);

export default function Markdown({ text }: { readonly text: string }) {
  // A row of a virtual list is rendered at many steps of scrolling.
  const elements = useMemo(() => elementsOf(parser.parse(text, {})), [text]);
  return <div className={styles.markdown}>{elements}</div>;
}

type Open = { readonly token: Token | null; readonly children: ReactNode[] };

function elementsOf(tokens: readonly Token[]): readonly ReactNode[] {
  const root: Open = { token: null, children: [] };
  const open: Open[] = [root];
  /** The number of elements that are open beyond the greatest depth. */
  let beyond = 0;
  for (const token of tokens) {
    const top = open.at(-1) ?? root;
    if (token.nesting === 1) {
      if (open.length >= DEPTH_MAX) beyond += 1;
      else open.push({ token, children: [] });
    } else if (token.nesting === -1) {
      if (beyond > 0) beyond -= 1;
      else {
        open.pop();
        (open.at(-1) ?? root).children.push(elementOf(top, (open.at(-1) ?? root).children.length));
      }
    } else if (token.type === 'inline') top.children.push(...elementsOf(token.children ?? []));
    else top.children.push(<Fragment key={top.children.length}>{leafOf(token)}</Fragment>);
  }
  return root.children;
}

function elementOf({ token, children }: Open, key: number): ReactNode {
  if (token === null) return <Fragment key={key}>{children}</Fragment>;
  if (token.type === 'link_open') return linkOf(token, children, key);
  if (token.type === 'table_open') {
    return (
      <div key={key} className={styles.scroll} tabIndex={0} role="group" aria-label="Table">
        <table>{children}</table>
      </div>
    );
  }
  // The page has its own headings of the first two levels.
  const level = /^h([1-6])$/.exec(token.tag)?.[1];
  if (level !== undefined) {
    const Heading = (['h3', 'h4', 'h5', 'h6'] as const)[Math.min(3, Number(level) - 1)] ?? 'h6';
    return (
      <Heading key={key} dir="auto">
        {children}
      </Heading>
    );
  }
  // A paragraph of a tight list is hidden.
  if (token.hidden || !TAGS.has(token.tag)) return <Fragment key={key}>{children}</Fragment>;
  const Element = token.tag as Tag;
  const start = Number(token.attrGet('start') ?? Number.NaN);
  return (
    <Element
      key={key}
      dir={token.block ? 'auto' : undefined}
      className={/right/.test(String(token.attrGet('style'))) ? styles.right : undefined}
      {...(Element === 'ol' && Number.isSafeInteger(start) && { start })}
    >
      {children}
    </Element>
  );
}

function leafOf(token: Token): ReactNode {
  switch (token.type) {
    case 'fence':
    case 'code_block':
      return <CodeBlock code={token.content} language={token.info.trim().split(/\s/)[0] ?? ''} />;
    case 'code_inline':
      return <code>{nameControls(token.content)}</code>;
    case 'hr':
      return <hr />;
    case 'hardbreak':
    case 'softbreak':
      return <br />;
    case 'image':
      return pictureOf(token);
    default:
      return nameControls(token.content);
  }
}

function linkOf(token: Token, children: readonly ReactNode[], key: number): ReactNode {
  const sent = String(token.attrGet('href') ?? '');
  const href = safeHref(sent);
  if (href === null) {
    return (
      <Fragment key={key}>
        {children} ({nameControls(sent)})
      </Fragment>
    );
  }
  return (
    <a key={key} href={href} target="_blank" rel="noopener noreferrer" title={nameControls(href)}>
      {children}
    </a>
  );
}

function pictureOf(token: Token): ReactNode {
  const sent = String(token.attrGet('src') ?? '');
  const source = sourceOf(sent);
  if (source === null) return `${nameControls(token.content)} (${nameControls(sent.slice(0, SENT_CHARACTERS))})`;
  return <MediaView media={{ what: 'image', source }} label={token.content} />;
}

const SENT_CHARACTERS = 200;
const PROTOCOLS: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Null for addresses of this server and for those that are not of the web or of mail. */
function safeHref(href: string): string | null {
  if (!URL.canParse(href)) return null;
  return PROTOCOLS.has(new URL(href).protocol) ? href : null;
}
