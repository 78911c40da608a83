/** Goes anywhere by typing: Ctrl+K or Cmd+K. */

import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { joined } from '../design/button.tsx';
import { Modal } from '../design/confirm.tsx';
import { useSession } from '../session/session.tsx';
import { type NavItem, ORGANIZATION_ITEMS, PROJECT_ITEMS } from './navigation.ts';
import styles from './palette.module.css';

type Goal = { readonly label: string; readonly href: string };

const SHOWN_MAX = 12;

export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      // What another dialog holds may not be shown again.
      setOpen((open) => !open && document.querySelector('[role=dialog]') === null);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  return (
    <>
      <button type="button" className={styles.trigger} onClick={() => setOpen(true)}>
        <span>Go to…</span>
        <kbd className={styles.key}>Ctrl K</kbd>
      </button>
      <Modal open={isOpen} onClose={() => setOpen(false)} title="Go to">
        <Choice onDone={() => setOpen(false)} />
      </Modal>
    </>
  );
}

function useGoals(text: string): readonly Goal[] {
  const { account, may } = useSession();
  const router = useRouter();
  const offered = ({ permission }: NavItem) => permission === null || may(permission);
  const ofProjects = account.projects.flatMap(({ name, slug }) =>
    PROJECT_ITEMS.filter(offered).map(({ label, to }) => ({
      label: account.projects.length > 1 ? `${label} of ${name}` : label,
      href: router.buildLocation({ to, params: { slug } }).href,
    })),
  );
  const ofOrganization = account.keyId === null ? [] : ORGANIZATION_ITEMS.filter(offered);
  const goals = [
    ...ofProjects,
    ...ofOrganization.map(({ label, to }) => ({ label, href: router.buildLocation({ to }).href })),
  ];
  const wanted = text.trim().toLowerCase();
  const found = goals.filter(({ label }) => label.toLowerCase().includes(wanted)).slice(0, SHOWN_MAX);
  const [project] = account.projects;
  // What looks like the id of a trace leads to that trace.
  if (project && /^[0-9a-f]{8,}$/.test(wanted)) {
    const params = { slug: project.slug, traceId: wanted };
    return [
      { label: `Trace ${wanted}`, href: router.buildLocation({ to: '/$slug/traces/$traceId', params }).href },
      ...found,
    ];
  }
  return found;
}

function Choice({ onDone }: { readonly onDone: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const router = useRouter();
  const goals = useGoals(text);
  const go = (goal: Goal | undefined) => {
    if (!goal) return;
    onDone();
    router.history.push(goal.href);
  };
  return (
    <div className={styles.choice}>
      <input
        className={styles.input}
        role="combobox"
        aria-label="Page or trace id"
        aria-expanded
        aria-controls="goals"
        aria-activedescendant={goals[at] ? `goal-${at}` : undefined}
        placeholder="A page, or the id of a trace"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (event.key === 'Enter') go(goals[at]);
          else if (step !== undefined) setAt((at + step + goals.length) % Math.max(1, goals.length));
          else return;
          event.preventDefault();
        }}
      />
      <div id="goals" role="listbox" aria-label="Places">
        {goals.map((goal, index) => (
          <div
            key={goal.href}
            id={`goal-${index}`}
            role="option"
            aria-selected={index === at}
            className={joined(styles.goal, index === at && styles.current)}
            onClick={() => go(goal)}
          >
            {goal.label}
          </div>
        ))}
      </div>
    </div>
  );
}
