/** Lays out the zones of a trace. Their widths are remembered. */

import { type ReactNode, useEffect, useRef, useState } from 'react';
import { joined } from '../design/button.tsx';
import { Divider } from '../design/divider.tsx';
import { useMedia } from '../design/media.ts';
import { useRemembered } from '../design/remembered.ts';
import { Tabs } from '../design/tabs.tsx';
import styles from './trace-page.module.css';

type ZoneName = 'tree' | 'conversation' | 'facts';

const LABELS: Readonly<Record<ZoneName, string>> = { tree: 'Spans', conversation: 'Conversation', facts: 'Facts' };
const ALL: readonly ZoneName[] = ['tree', 'conversation', 'facts'];
const DETAILS: readonly ZoneName[] = ['conversation', 'facts'];
const label = (names: readonly ZoneName[]) => names.map((name) => [name, LABELS[name]] as const);

/** In percent of the page. */
type Widths = { readonly tree: number; readonly pair: number; readonly facts: number };

const WIDTHS: Widths = { tree: 40, pair: 48, facts: 25 };
const TREE = { min: 18, max: 62 };
const PAIR = { min: 25, max: 75 };
const FACTS = { min: 15, max: 45 };
/** The conversation always keeps some room. */
const MIDDLE_MIN = 15;

function readWidths(kept: unknown): Widths {
  const found = typeof kept === 'object' && kept !== null ? (kept as Partial<Record<keyof Widths, unknown>>) : {};
  const within = (value: unknown, { min, max }: typeof TREE, otherwise: number) =>
    typeof value === 'number' && value >= min && value <= max ? value : otherwise;
  const widths = {
    tree: within(found.tree, TREE, WIDTHS.tree),
    pair: within(found.pair, PAIR, WIDTHS.pair),
    facts: within(found.facts, FACTS, WIDTHS.facts),
  };
  return widths.tree + widths.facts > 100 - MIDDLE_MIN ? WIDTHS : widths;
}

type TraceZonesProps = {
  readonly chosen: string | null;
  readonly tree: ReactNode;
  readonly conversation: ReactNode;
  readonly facts: ReactNode;
};

export function TraceZones({ chosen, ...zones }: TraceZonesProps) {
  const isWide = useMedia('(min-width: 1100px)');
  const isNarrow = useMedia('(max-width: 699.9px)');
  const [widths, setWidths] = useRemembered('trace.widths', readWidths);
  const [tab, setTab] = useState<ZoneName>('tree');
  const before = useRef(chosen);
  useEffect(() => {
    // Where only one zone is shown, choosing a span shows what is known of it.
    if (isNarrow && chosen !== null && before.current !== chosen) setTab((now) => (now === 'tree' ? 'facts' : now));
    before.current = chosen;
  }, [isNarrow, chosen]);
  const change = (part: Partial<Widths>) => setWidths({ ...widths, ...part });
  if (isNarrow) {
    return (
      <div className={styles.single}>
        <Tabs label="Zones" tabs={label(ALL)} shown={tab} onShow={setTab} />
        <Zone name={tab}>{zones[tab]}</Zone>
      </div>
    );
  }
  if (!isWide) {
    const shown = tab === 'tree' ? 'conversation' : tab;
    return (
      <div className={styles.zones} style={{ gridTemplateColumns: `${widths.pair}% auto minmax(0, 1fr)` }}>
        <Zone name="tree">{zones.tree}</Zone>
        <Divider
          label="Width of the spans"
          controls="zone-tree"
          value={widths.pair}
          {...PAIR}
          reset={WIDTHS.pair}
          onChange={(pair) => change({ pair })}
        />
        <div className={styles.single}>
          <Tabs label="Zones" tabs={label(DETAILS)} shown={shown} onShow={setTab} />
          <Zone name={shown}>{zones[shown]}</Zone>
        </div>
      </div>
    );
  }
  const columns = `${widths.tree}% auto minmax(0, 1fr) auto ${widths.facts}%`;
  return (
    <div className={styles.zones} style={{ gridTemplateColumns: columns }}>
      <Zone name="tree">{zones.tree}</Zone>
      <Divider
        label="Width of the spans"
        controls="zone-tree"
        value={widths.tree}
        min={TREE.min}
        max={Math.min(TREE.max, 100 - MIDDLE_MIN - widths.facts)}
        reset={WIDTHS.tree}
        onChange={(tree) => change({ tree })}
      />
      <Zone name="conversation">{zones.conversation}</Zone>
      <Divider
        label="Width of the facts"
        controls="zone-facts"
        value={widths.facts}
        min={FACTS.min}
        max={Math.min(FACTS.max, 100 - MIDDLE_MIN - widths.tree)}
        reset={WIDTHS.facts}
        isAfter
        onChange={(facts) => change({ facts })}
      />
      <Zone name="facts">{zones.facts}</Zone>
    </div>
  );
}

function Zone({ name, children }: { readonly name: ZoneName; readonly children: ReactNode }) {
  const isText = name !== 'tree';
  return (
    <section
      id={`zone-${name}`}
      className={joined(styles.zone, isText && styles.text)}
      aria-label={LABELS[name]}
      // So that keys scroll it.
      {...(isText ? { tabIndex: 0 } : {})}
    >
      {children}
    </section>
  );
}
