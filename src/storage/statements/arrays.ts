/** Turns a change of one row into one of many: each parameter becomes an array over all rows. */

import { sql } from 'kysely';
import { Placeholder, placeholder } from './placeholder.ts';

// biome-ignore lint/suspicious/noExplicitAny: the query builder has no type for all of its nodes together.
type Node = any;

/** `typeOf` returns the type of a column. */
export function takeArrays(change: Node, typeOf: (column: string) => string): Node {
  const arrays: { readonly column: string; readonly type: string; readonly value: Placeholder }[] = [];

  /** `column`: the parameter is assigned to, or compared with. */
  function replaceGiven(node: Node, column: string | null): Node {
    if (node instanceof Placeholder) {
      if (column === null) throw new Error('what is given of many rows is set, or compared with a column');
      arrays.push({ column: `v${arrays.length}`, type: typeOf(column), value: node });
      return sql.ref(`given.${arrays.at(-1)?.column}`).toOperationNode();
    }
    if (Array.isArray(node)) return node.map((each) => replaceGiven(each, column));
    if (node === null || typeof node !== 'object') return node;
    if (node.kind === 'ValueNode') return node.value instanceof Placeholder ? replaceGiven(node.value, column) : node;
    if (node.kind === 'ColumnUpdateNode') {
      return { ...node, value: replaceGiven(node.value, node.column.column.name) };
    }
    if (node.kind === 'BinaryOperationNode' && node.leftOperand.kind === 'ReferenceNode') {
      return { ...node, rightOperand: replaceGiven(node.rightOperand, node.leftOperand.column.column.name) };
    }
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, replaceGiven(value, column)]));
  }

  function fromRows() {
    const lists = arrays.map(({ type, value }) => arrayOf(value, type));
    return sql`unnest(${sql.join(lists)}) as given (${sql.raw(arrays.map(({ column }) => column).join(', '))})`;
  }

  if (change.kind === 'InsertQueryNode') {
    const [row] = change.values.values;
    const values = change.columns.map(({ column }: Node, index: number) =>
      replaceGiven(row.values[index], column.name),
    );
    const list = sql.join(values.map((value: Node) => ({ toOperationNode: () => value })));
    return { ...change, values: sql`select ${list} from ${fromRows()}`.toOperationNode() };
  }
  const changed = replaceGiven(change, null);
  const rows = fromRows().toOperationNode();
  return change.kind === 'UpdateQueryNode'
    ? { ...changed, from: { kind: 'FromNode', froms: [rows] } }
    : { ...changed, using: { kind: 'UsingNode', tables: [rows] } };
}

/** The values of a parameter in all rows, as an array of the type. */
export function arrayOf({ given }: Placeholder, type: string) {
  if (given === null) throw new Error('a list is not given of many rows');
  return sql`${placeholder(given.member, given.form, `${type}[]`)}::${sql.raw(type)}[]`;
}
