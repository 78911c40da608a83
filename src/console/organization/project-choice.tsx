/** A choice of projects: all of the organization, or some; and a link to one of them. */

import { Link } from '@tanstack/react-router';
import controls from '../design/controls.module.css';
import { Check } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useSession } from '../session/session.tsx';

type ProjectChoiceProps = {
  readonly legend: string;
  /** Ids; empty means all. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
};

export function ProjectChoice({ legend, chosen, onChange }: ProjectChoiceProps) {
  const { account } = useSession();
  const toggle = (id: string, isOn: boolean) => onChange(isOn ? [...chosen, id] : chosen.filter((each) => each !== id));
  // A project may have been archived since.
  const gone = chosen.filter((id) => !account.projects.some((project) => project.id === id));
  return (
    <fieldset className={page.group}>
      <legend>{legend}</legend>
      <div className={page.row}>
        <label className={controls.check}>
          <input type="radio" checked={chosen.length === 0} onChange={() => onChange([])} />
          The whole organization
        </label>
        {account.projects.map(({ id, name }) => (
          <Check key={id} checked={chosen.includes(id)} onChange={(isOn) => toggle(id, isOn)}>
            {nameControls(name)}
          </Check>
        ))}
        {gone.map((id) => (
          <Check key={id} checked onChange={() => toggle(id, false)}>
            {id}
          </Check>
        ))}
      </div>
    </fieldset>
  );
}

/** Leads to the traces of a project, where the key reaches it. */
export function ProjectLink({ id, name }: { readonly id: string; readonly name: string }) {
  const { account } = useSession();
  const reached = account.projects.find((project) => project.id === id);
  if (!reached) return nameControls(name);
  return (
    <Link to="/$slug/traces" params={{ slug: reached.slug }}>
      {nameControls(name)}
    </Link>
  );
}
