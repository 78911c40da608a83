/** The frame of every page: project, navigation and sign-out. */

import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Button, joined } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { Select } from '../design/form.tsx';
import { useSession } from '../session/session.tsx';
import { KeyHelp } from './keys.tsx';
import { type NavItem, ORGANIZATION_ITEMS, PROJECT_ITEMS } from './navigation.ts';
import { Palette } from './palette.tsx';
import styles from './shell.module.css';

/** The project slug of the address; on pages of the organization, the last one. */
function useCurrentSlug(): string | null {
  const { account } = useSession();
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const slug = decodeURIComponent(pathname.split('/')[1] ?? '');
  return account.projects.find((project) => project.slug === slug)?.slug ?? account.projects[0]?.slug ?? null;
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
  const offered = ({ permission }: NavItem) => may(permission);
  const link = { className: styles.item, activeProps: { className: styles.active }, onClick: () => setOpen(false) };
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        Skip to the page
      </a>
      <header className={styles.bar}>
        <span className={styles.brand}>Spandrel</span>
        <Button ref={menu} small aria-expanded={isOpen} aria-controls="navigation" onClick={() => setOpen(!isOpen)}>
          Menu
        </Button>
      </header>
      <nav id="navigation" className={joined(styles.nav, isOpen && styles.open)} aria-label="Pages">
        <span className={styles.brandWide}>Spandrel</span>
        <Palette />
        {slug !== null && (
          <>
            <ProjectPicker slug={slug} />
            <ul className={styles.list}>
              {PROJECT_ITEMS.filter(offered).map(({ label, to }) => (
                <li key={to}>
                  <Link to={to} params={{ slug }} {...link}>
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )}
        {!account.isOfProject && ORGANIZATION_ITEMS.some(offered) && (
          <>
            <h2 className={styles.heading}>Organization</h2>
            <ul className={styles.list}>
              {ORGANIZATION_ITEMS.filter(offered).map(({ label, to }) => (
                <li key={to}>
                  <Link to={to} {...link}>
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )}
        <div className={styles.out}>
          <Link to="/-/sessions" {...link}>
            Sessions
          </Link>
          <Button variant="plain" onClick={end}>
            Sign out
          </Button>
        </div>
      </nav>
      <main id="content" className={styles.content} tabIndex={0}>
        <Outlet />
      </main>
      <KeyHelp />
    </div>
  );
}

function ProjectPicker({ slug }: { readonly slug: string }) {
  const { account } = useSession();
  const navigate = useNavigate();
  if (account.projects.length === 1) return <p className={styles.project}>{account.projects[0]?.name}</p>;
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
