/** The frame of every page: project, navigation and sign-out. */

import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, joined } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { Select } from '../design/form.tsx';
import { Icon } from '../design/icon.tsx';
import status from '../design/status.module.css';
import { chooseTheme, type Theme, useTheme } from '../design/theme.ts';
import mark from '../icon.svg';
import { useSession } from '../session/session.tsx';
import { fallbackSlug, keepProject, keptProject, slugOf } from './kept-project.ts';
import { KeyHelp } from './keys.tsx';
import { groupsOf, ORGANIZATION_ITEMS, PROJECT_ITEMS } from './navigation.ts';
import { Palette } from './palette.tsx';
import styles from './shell.module.css';

/** The project slug of the address; on pages of the organization, the last one of this tab. */
function useCurrentSlug(): string | null {
  const { account } = useSession();
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const slugs = account.projects.map(({ slug }) => slug);
  const named = slugOf(pathname, slugs);
  useEffect(() => {
    if (named !== null) keepProject(named);
  }, [named]);
  return named ?? fallbackSlug(slugs, keptProject());
}

export function Shell() {
  const { account, may, end } = useSession();
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const listen = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      setOpen(false);
      menu.current?.focus();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [isOpen]);
  const slug = useCurrentSlug();
  const isLoading = useRouterState({ select: (state) => state.isLoading });
  const link = { className: styles.item, activeProps: { className: styles.active }, onClick: () => setOpen(false) };
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        Skip to the page
      </a>
      {isLoading && <div className={styles.loading} aria-hidden />}
      <header className={styles.bar}>
        <Brand />
        <Button ref={menu} small aria-expanded={isOpen} aria-controls="navigation" onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'close' : 'menu'} />
          Menu
        </Button>
      </header>
      <nav id="navigation" className={joined(styles.nav, isOpen && styles.open)} aria-label="Pages">
        <div className={styles.brandWide}>
          <Brand />
        </div>
        <Palette />
        {slug !== null && (
          <>
            <ProjectPicker slug={slug} />
            {groupsOf(PROJECT_ITEMS, may).map(([group, items]) => (
              <Group key={group} title={group}>
                {items.map(({ label, to, icon }) => (
                  <li key={to}>
                    <Link to={to} params={{ slug }} {...link}>
                      <Icon name={icon} />
                      {label}
                    </Link>
                  </li>
                ))}
              </Group>
            ))}
          </>
        )}
        {!account.isOfProject &&
          groupsOf(ORGANIZATION_ITEMS, may).map(([group, items]) => (
            <Group key={group} title={group}>
              {items.map(({ label, to, icon }) => (
                <li key={to}>
                  <Link to={to} {...link}>
                    <Icon name={icon} />
                    {label}
                  </Link>
                </li>
              ))}
            </Group>
          ))}
        <div className={styles.out}>
          <ThemeChoice />
          <Link to="/-/sessions" {...link} className={styles.tool} title="Sessions">
            <Icon name="sessions" />
            <span className={status.unseen}>Sessions</span>
          </Link>
          <button type="button" className={styles.tool} title="Sign out" onClick={end}>
            <Icon name="signOut" />
            <span className={status.unseen}>Sign out</span>
          </button>
        </div>
      </nav>
      <main id="content" className={styles.content} tabIndex={0}>
        <Outlet />
      </main>
      <KeyHelp />
    </div>
  );
}

function Brand() {
  return (
    <span className={styles.brand}>
      <img src={mark} width={20} height={20} alt="" />
      Spandrel
    </span>
  );
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h2 className={styles.heading}>{title}</h2>
      <ul className={styles.list}>{children}</ul>
    </section>
  );
}

const THEMES: readonly (readonly [theme: Theme, label: string])[] = [
  ['system', 'System theme'],
  ['light', 'Light theme'],
  ['dark', 'Dark theme'],
];

/** Lets the reader choose between light, dark, and what the system shows. */
function ThemeChoice() {
  const chosen = useTheme();
  return (
    <fieldset className={styles.themes} aria-label="Theme">
      {THEMES.map(([theme, label]) => (
        <button
          key={theme}
          type="button"
          className={styles.theme}
          title={label}
          aria-label={label}
          aria-pressed={chosen === theme}
          onClick={() => chooseTheme(theme)}
        >
          <Icon name={theme} />
        </button>
      ))}
    </fieldset>
  );
}

function ProjectPicker({ slug }: { readonly slug: string }) {
  const { account } = useSession();
  const navigate = useNavigate();
  const [only] = account.projects;
  if (account.projects.length === 1)
    return (
      <p className={styles.project} title={only?.name}>
        {only?.name}
      </p>
    );
  return (
    <Select
      className={joined(controls.control, styles.picker)}
      aria-label="Project"
      value={slug}
      options={account.projects.map((project) => [project.slug, project.name] as const)}
      onChange={(chosen) => void navigate({ to: '/$slug/traces', params: { slug: chosen } })}
    />
  );
}
