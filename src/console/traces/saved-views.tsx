/** Saved views of the list: chooses, saves, renames, shares and deletes them. */

import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { useEffect, useState } from 'react';
import { type SavedView, SavedViewService, SavedViewVisibility } from '../../../gen/spandrel/v1/saved_views_pb.js';
import { Badge, Button, joined } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, PAGING, Pending } from '../design/page.tsx';
import { Popover } from '../design/popover.tsx';
import { useSession } from '../session/session.tsx';
import { DeleteView, RenameForm, SaveForm, useViewChange } from './saved-view-forms.tsx';
import styles from './saved-views.module.css';
import type { TraceListSearch } from './search.ts';
import { readState, writeState } from './view-state.ts';

const { PROJECT, PERSONAL } = SavedViewVisibility;
const PAGE_SIZE = 200;
const LABEL_CHARACTERS = 32;
/** From here on a list is long. */
const LONG = 8;

type SavedViewsProps = {
  readonly search: TraceListSearch;
  /** Those that the list shows, as the address would list them. */
  readonly columns: string;
  /** Shows another state of the list; `isStep`: the way back leads to the one before. */
  readonly onShow: (search: TraceListSearch, isStep: boolean) => void;
};

export default function SavedViews({ search, columns, onShow }: SavedViewsProps) {
  const { saved } = search;
  const { data } = useQuery(
    SavedViewService.method.getSavedView,
    { savedViewId: saved ?? '' },
    { enabled: saved !== undefined, retry: false },
  );
  const chosen = saved === undefined ? null : (data?.savedView ?? null);
  const now = writeState({ ...search, columns });
  // An address may name a view and nothing else.
  const isBare = Object.keys(search).join() === 'saved';
  useEffect(() => {
    if (isBare && chosen?.search) onShow({ ...readState(chosen.search), saved: chosen.id }, false);
  }, [isBare, chosen, onShow]);
  const isChanged = chosen !== null && !isBare && writeState({ columns, ...readState(chosen.search ?? '') }) !== now;
  const name = chosen === null ? 'Views' : shorten(nameControls(chosen.name ?? ''));
  return (
    <Popover label={isChanged ? `${name} (changed)` : name} title="Saved views">
      {(close) => (
        <Menu
          {...{ chosen, isChanged, now, close }}
          onShow={(view) => onShow(view === null ? {} : { ...readState(view.search ?? ''), saved: view.id }, true)}
          onSaved={(view) => onShow({ ...search, saved: view.id }, false)}
        />
      )}
    </Popover>
  );
}

function shorten(name: string): string {
  return name.length > LABEL_CHARACTERS ? `${name.slice(0, LABEL_CHARACTERS)}…` : name;
}

type MenuProps = {
  readonly chosen: SavedView | null;
  /** Whether the list shows another state than the chosen view. */
  readonly isChanged: boolean;
  /** The state of the list. */
  readonly now: string;
  readonly onShow: (view: SavedView | null) => void;
  readonly onSaved: (view: SavedView) => void;
  readonly close: () => void;
};

type Mode = 'choose' | 'save' | 'rename' | 'delete';

function Menu({ chosen, isChanged, now, onShow, onSaved, close }: MenuProps) {
  const [mode, setMode] = useState<Mode>('choose');
  const back = () => setMode('choose');
  if (mode === 'save') {
    return (
      <SaveForm
        now={now}
        onCancel={back}
        onSaved={(view) => {
          onSaved(view);
          close();
        }}
      />
    );
  }
  if (mode === 'rename' && chosen) return <RenameForm view={chosen} onEnd={back} />;
  if (mode === 'delete' && chosen) {
    return (
      <DeleteView
        view={chosen}
        onCancel={back}
        onDeleted={() => {
          onShow(null);
          close();
        }}
      />
    );
  }
  return (
    <div className={styles.menu}>
      <Choices
        chosen={chosen}
        onShow={(view) => {
          onShow(view);
          close();
        }}
      />
      {chosen?.canChange && <Changes view={chosen} isChanged={isChanged} now={now} onMode={setMode} />}
      <div className={page.row}>
        <Button small variant="primary" onClick={() => setMode('save')}>
          Save view…
        </Button>
        {chosen && (
          <Button
            small
            onClick={() => {
              onShow(null);
              close();
            }}
          >
            Leave the view
          </Button>
        )}
      </div>
    </div>
  );
}

type ChoicesProps = { readonly chosen: SavedView | null; readonly onShow: (view: SavedView) => void };

function Choices({ chosen, onShow }: ChoicesProps) {
  const found = useInfiniteQuery(
    SavedViewService.method.listSavedViews,
    { pageSize: PAGE_SIZE, pageToken: '' },
    { ...PAGING, staleTime: 0 },
  );
  const [typed, setTyped] = useState('');
  const views = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const sought = typed.trim().toLowerCase();
  const shown = views.filter(({ name = '' }) => name.toLowerCase().includes(sought));
  return (
    <>
      <Pending found={found} />
      {found.isSuccess && views.length === 0 && (
        <p className={styles.note}>
          No view is saved yet. A view keeps the filters, the range, the order and the columns of this list.
        </p>
      )}
      {views.length > LONG && <TextField label="Find a view" type="search" value={typed} onChange={setTyped} />}
      {shown.length > 0 && (
        <ul className={styles.views} aria-label="Views">
          {shown.map((view) => (
            <li key={view.id}>
              <button
                type="button"
                className={joined(styles.view, view.id === chosen?.id && styles.chosen)}
                aria-current={view.id === chosen?.id || undefined}
                onClick={() => onShow(view)}
              >
                <span className={styles.name} dir="auto">
                  {nameControls(view.name ?? '')}
                </span>
                {view.visibility === PERSONAL && <Badge>Only you</Badge>}
              </button>
            </li>
          ))}
        </ul>
      )}
      {views.length > 0 && shown.length === 0 && <p className={styles.note}>No view has such a name.</p>}
      <More found={found} />
    </>
  );
}

type ChangesProps = Pick<MenuProps, 'isChanged' | 'now'> & {
  readonly view: SavedView;
  readonly onMode: (mode: Mode) => void;
};

/** What can be done to the chosen view. */
function Changes({ view, isChanged, now, onMode }: ChangesProps) {
  const { may } = useSession();
  const update = useViewChange(SavedViewService.method.updateSavedView);
  const change = (savedView: { readonly search?: string; readonly visibility?: SavedViewVisibility }) =>
    update.mutate({ savedViewId: view.id, savedView });
  const isPersonal = view.visibility === PERSONAL;
  return (
    <div className={styles.changes}>
      <div className={page.row}>
        {isChanged && (
          <Button small disabled={update.isPending} onClick={() => change({ search: now })}>
            Keep the change
          </Button>
        )}
        <Button small onClick={() => onMode('rename')}>
          Rename
        </Button>
        {isPersonal && may('traces:update') && (
          <Button small disabled={update.isPending} onClick={() => change({ visibility: PROJECT })}>
            Share with the project
          </Button>
        )}
        {!isPersonal && view.createdBy !== undefined && (
          <Button small disabled={update.isPending} onClick={() => change({ visibility: PERSONAL })}>
            Only for its owner
          </Button>
        )}
        <Button small variant="danger" onClick={() => onMode('delete')}>
          Delete
        </Button>
      </div>
      {update.isError && <FailureNotice error={update.error} />}
    </div>
  );
}
