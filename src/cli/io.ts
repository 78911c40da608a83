/** The parts of the process that commands use. */

export type Environment = { readonly [name: string]: string | undefined };

export type Output = { readonly isTTY?: boolean; write(text: string): unknown };

export type CommandIo = { readonly environment: Environment; readonly stdout: Output; readonly stderr: Output };
