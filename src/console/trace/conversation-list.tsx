/** A dialogue of any length. Only the turns in view are elements, inside of whatever scrolls around them. */

import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../design/button.tsx';
import { formatCount } from '../design/format.ts';
import styles from './conversation.module.css';
import { FormContext, MODES, useChoices } from './conversation-mode.ts';
import { TurnView } from './conversation-turn.tsx';
import type { Turn } from './conversation-turns.ts';

type TurnListProps = {
  readonly turns: readonly Turn[];
  readonly title: string;
  readonly onOpen: ((spanId: string) => void) | null;
};

const TURN_PX = 120;
const GAP_PX = 10;
/** Fewer fit on a screen or two. */
const LONG_TURNS = 6;

export function TurnList({ turns, title, onOpen }: TurnListProps) {
  const choices = useChoices();
  const list = useRef<HTMLOListElement>(null);
  const { scroller, marginPx } = useScroller(list);
  useLayoutEffect(() => {
    // What was chosen before may have been scrolled far.
    if (scroller) scroller.scrollTop = 0;
  }, [scroller]);
  const virtual = useVirtualizer({
    count: turns.length,
    getScrollElement: () => scroller,
    estimateSize: () => TURN_PX,
    getItemKey: useCallback((index: number) => turns[index]?.key ?? index, [turns]),
    gap: GAP_PX,
    overscan: 4,
    scrollMargin: marginPx,
  });
  return (
    <FormContext value={choices}>
      <div className={styles.bar}>
        <h2 className={styles.title}>{title}</h2>
        <span className={styles.note}>
          {turns.length === 1 ? '1 message' : `${formatCount(turns.length)} messages`}
        </span>
        <span className={styles.tools}>
          {turns.length > LONG_TURNS && (
            <>
              <Button small onClick={() => virtual.scrollToIndex(0)}>
                Oldest
              </Button>
              <Button small onClick={() => virtual.scrollToIndex(turns.length - 1, { align: 'end' })}>
                Newest
              </Button>
            </>
          )}
          <select
            className={styles.mode}
            aria-label="Show all messages as"
            value={choices.all}
            onChange={({ target }) =>
              choices.chooseAll(MODES.find(([mode]) => mode === target.value)?.[0] ?? 'rendered')
            }
          >
            {MODES.map(([mode, label]) => (
              <option key={mode} value={mode}>
                {label}
              </option>
            ))}
          </select>
        </span>
      </div>
      <ol ref={list} className={styles.list} aria-label={title} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const turn = turns[index];
          if (!turn) return null;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={turns.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start - marginPx}px)` }}
            >
              <TurnView turn={turn} onOpen={onOpen} />
            </li>
          );
        })}
      </ol>
    </FormContext>
  );
}

/** The element that scrolls around another one, and how far below its beginning the other one starts. */
export function useScroller(inner: RefObject<HTMLElement | null>) {
  const [found, setFound] = useState<{ readonly scroller: Element | null; readonly marginPx: number }>({
    scroller: null,
    marginPx: 0,
  });
  useLayoutEffect(() => {
    const measure = () => {
      const element = inner.current;
      if (!element) return;
      const scroller = scrollerOf(element);
      const topPx = scroller === document.scrollingElement ? 0 : scroller.getBoundingClientRect().top;
      const marginPx = Math.round(element.getBoundingClientRect().top - topPx + scroller.scrollTop);
      setFound((now) => (now.scroller === scroller && now.marginPx === marginPx ? now : { scroller, marginPx }));
    };
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(document.body);
    const { parentElement } = inner.current ?? {};
    if (parentElement) resized.observe(parentElement);
    return () => resized.disconnect();
  }, [inner]);
  return found;
}

function scrollerOf(element: Element): Element {
  for (let above = element.parentElement; above; above = above.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(above).overflowY)) return above;
  }
  return document.scrollingElement ?? document.documentElement;
}
