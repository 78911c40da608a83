/** What a command has of its process. */

export type Environment = { readonly [name: string]: string | undefined };

export type Output = { readonly isTTY?: boolean; write(text: string): unknown };

export type CommandIo = { readonly environment: Environment; readonly stdout: Output; readonly stderr: Output };
