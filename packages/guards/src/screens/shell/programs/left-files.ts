import { type Field, type Stream, unknownStream } from '../field.ts';
import { readOptions } from '../options.ts';
import type { Shell } from '../shell.ts';
import { isInstalled, programName } from './names.ts';

/** Remembers what a program leaves in files, so that running such a file is seen for what it is. */
export function noteLeftFiles(shell: Shell, name: string, args: readonly Field[], output: Stream): void {
  const { files } = shell;
  switch (name) {
    case 'curl': {
      const options = readOptions(args, {
        valued: 'oXHdFuAbceTKmwxrEyYzCQP',
        longValued: ['--output', '--request', '--header', '--data'],
      });
      const target = options.value('-o', '--output')?.text;
      if (target !== undefined) files.set(target, unknownStream('network'));
      if (options.has('-O', '--remote-name', '--remote-name-all')) noteUrls(shell, options.operands);
      return;
    }
    case 'wget': {
      const options = readOptions(args, { valued: 'OoPaieUQtTwl', longValued: ['--output-document'] });
      const target = options.value('-O', '--output-document')?.text;
      if (target !== undefined && target !== '-') files.set(target, unknownStream('network'));
      else noteUrls(shell, options.operands);
      return;
    }
    case 'tee':
      for (const { text } of readOptions(args).operands) files.set(text, output);
      return;
    case 'cp':
    case 'mv':
    case 'ln':
    case 'install': {
      const [from, to] = readOptions(args, { valued: 'tSgmo' }).operands;
      const content = from === undefined ? undefined : files.get(from.text);
      if (to === undefined) return;
      if (content !== undefined) files.set(to.text, content);
      else if (from !== undefined && isProgram(from.text)) noteProgram(shell, from.text, to.text);
      return;
    }
    case 'dd': {
      const target = args.find(({ text }) => text.startsWith('of='))?.text.slice(3);
      if (target !== undefined) files.set(target, output);
    }
  }
}

/** True for a place where programs are installed, which the words of a command name in full. */
const isProgram = (text: string): boolean => text.includes('/') && isInstalled(text);

/** The same program by another name. */
function noteProgram({ aliases }: Shell, program: string, name: string): void {
  aliases.set(name, programName(program));
  if (!/^[./~]/.test(name)) aliases.set(`./${name}`, programName(program));
}

function noteUrls({ files }: Shell, operands: readonly Field[]): void {
  for (const { text } of operands) {
    const name = text
      .replace(/[?#].*$/s, '')
      .split('/')
      .at(-1);
    if (name !== undefined && name !== '') files.set(name, unknownStream('network'));
  }
}
