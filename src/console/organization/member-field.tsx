import { useId } from 'react';
import type { Member } from '../../../gen/spandrel/v1/organization_pb.js';
import { TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { offeredMembers } from './member-choice.ts';

type MemberFieldProps = {
  readonly label: string;
  readonly hint: string;
  readonly field?: string;
  readonly members: readonly Member[];
  /** What a choice writes into the field. */
  readonly writes: 'email' | 'userId';
  readonly value: string;
  readonly onChange: (text: string) => void;
};

/** A member by what is typed: members that fit are offered, and the id of one who is not listed may be typed whole. */
export function MemberField({ members, writes, value, onChange, ...field }: MemberFieldProps) {
  const list = useId();
  return (
    <>
      <TextField {...field} list={list} spellCheck={false} value={value} onChange={onChange} />
      <datalist id={list}>
        {offeredMembers(value, members).map((member) => (
          <option key={member.userId} value={member[writes]}>
            {nameControls(member.name || member.email)}
          </option>
        ))}
      </datalist>
    </>
  );
}
