/** The icon and the hue of each type of span. The icons are drawn for the console, so they need no package. */

import type { CSSProperties } from 'react';
import { SpanType } from '../../../gen/spandrel/v1/traces_pb.js';
import styles from './span-icon.module.css';

type Look = {
  readonly hue: 'llm' | 'agent' | 'tool' | 'rag' | 'guardrail' | 'evaluation' | 'flow' | 'plain';
  /** Lines in a box of 16 by 16. */
  readonly path: string;
};

const SPARK = 'M8 1.8 9.6 6.4 14.2 8 9.6 9.6 8 14.2 6.4 9.6 1.8 8 6.4 6.4Z';
const BOX = 'M2.8 5 8 2.2 13.2 5v6L8 13.8 2.8 11ZM2.8 5 8 7.8 13.2 5M8 7.8v6';
const PLAIN: Look = { hue: 'plain', path: 'M8 4.2a3.8 3.8 0 1 1 0 7.6 3.8 3.8 0 0 1 0-7.6Z' };

const LOOKS: { readonly [type: number]: Look } = {
  [SpanType.LLM]: { hue: 'llm', path: SPARK },
  [SpanType.AGENT]: {
    hue: 'agent',
    path: 'M8 1.6v2.4M3.6 4h8.8a1 1 0 0 1 1 1v7.4a1 1 0 0 1-1 1H3.6a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1ZM5.8 7.4v1.6M10.2 7.4v1.6M1 7.6v2.6M15 7.6v2.6',
  },
  [SpanType.TOOL]: {
    hue: 'tool',
    path: 'M13.6 4.4 11 7 9 5l2.6-2.6a4 4 0 0 0-5.2 5L2.2 11.6a1.5 1.5 0 0 0 2.2 2.2l4.2-4.2a4 4 0 0 0 5-5.2Z',
  },
  [SpanType.RAG]: {
    hue: 'rag',
    path: 'M8 3.6C6.4 2.4 4.4 2 2 2.2v10.2c2.4-.2 4.4.2 6 1.4 1.6-1.2 3.6-1.6 6-1.4V2.2c-2.4-.2-4.4.2-6 1.4ZM8 3.6v10.2',
  },
  [SpanType.GUARDRAIL]: {
    hue: 'guardrail',
    path: 'M8 1.6 13.4 3.6v4c0 3.2-2.2 5.6-5.4 6.8-3.2-1.2-5.4-3.6-5.4-6.8v-4Z',
  },
  [SpanType.EVALUATION]: {
    hue: 'evaluation',
    path: 'M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8ZM5.2 8.2l2 2 3.6-4',
  },
  [SpanType.CHAIN]: {
    hue: 'flow',
    path: 'M6.6 9.4 9.4 6.6M7.2 4.6l1.4-1.4a3 3 0 0 1 4.2 4.2l-1.4 1.4M8.8 11.4l-1.4 1.4a3 3 0 0 1-4.2-4.2l1.4-1.4',
  },
  [SpanType.WORKFLOW]: {
    hue: 'flow',
    path: 'M4 2.4v11.2M4 8.6c4.4 0 8-.6 8-4.2M4 2.2a.9.9 0 1 1 0 .1ZM12 2.2a1.1 1.1 0 1 1 0 2.2 1.1 1.1 0 0 1 0-2.2Z',
  },
  [SpanType.COMPONENT]: { hue: 'flow', path: BOX },
  [SpanType.MODULE]: { hue: 'flow', path: BOX },
  [SpanType.TASK]: { hue: 'flow', path: 'M5.4 4h8.2M5.4 8h8.2M5.4 12h8.2M2 4h.6M2 8h.6M2 12h.6' },
  [SpanType.SERVER]: { hue: 'plain', path: 'M2.4 2.6h11.2v4.6H2.4ZM2.4 8.8h11.2v4.6H2.4ZM4.8 4.9h.6M4.8 11.1h.6' },
  [SpanType.CLIENT]: { hue: 'plain', path: 'M2.4 8h10.4M9 4.2 12.8 8 9 11.8' },
  [SpanType.PRODUCER]: { hue: 'plain', path: 'M2 13.4V2.6M5.4 8h8.2M10.4 4.8 13.6 8l-3.2 3.2' },
  [SpanType.CONSUMER]: { hue: 'plain', path: 'M14 13.4V2.6M2.4 8h8.2M7.4 4.8 10.6 8l-3.2 3.2' },
};

function lookOf(type: SpanType): Look {
  return LOOKS[type] ?? PLAIN;
}

/** Sets the hue of a type for what is inside an element. */
export function hueOf(type: SpanType): CSSProperties {
  return { '--hue': `var(--hue-${lookOf(type).hue})` } as CSSProperties;
}

export function SpanIcon({ type }: { readonly type: SpanType }) {
  return (
    <svg className={styles.icon} viewBox="0 0 16 16" style={hueOf(type)} aria-hidden="true">
      <path d={lookOf(type).path} />
    </svg>
  );
}
