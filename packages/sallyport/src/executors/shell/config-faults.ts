import { normalize } from 'node:path';
import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { wireCheck } from '../../registry/wire-faults.ts';
import { fixedText, parseTemplate, type Template } from './command/argument-template.ts';
import { parameterPlaces } from './command/parameter-places.ts';
import { ShellConfig } from './shell-config.ts';

const CONFIG = '/executor/config';
/** A text in braces, not a placeholder. */
const DOUBLED = /\{\{([A-Za-z_][A-Za-z0-9_.-]*)\}\}/g;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const matchesContract = wireCheck(ShellConfig, 'E3008', CONFIG);

/**
 * Faults of a shell tool: the shape of its `executor.config`, and uses of parameters that would let them become code.
 */
export function configFaults(manifest: ToolManifest): readonly Fault[] {
  const shape = matchesContract(manifest.executor.config ?? {});
  if (shape.length > 0) return shape;
  const config = manifest.executor.config as ShellConfig;
  const command = config.command.map(parseTemplate);
  return [
    ...programFaults(command),
    ...placeFaults(config, command, manifest),
    ...codeFaults(config, command, manifest),
    ...folderFaults(config),
    ...secretFaults(config, manifest),
    ...transactionFaults(config),
  ];
}

function programFaults([program]: readonly Template[]): Fault[] {
  const at = `${CONFIG}/command/0`;
  const text = program === undefined ? undefined : fixedText(program);
  if (text === undefined) return [fault(at, 'command', 'is the program and must be fixed', 'Write its name or path.')];
  if (text === '' || text.startsWith('-')) {
    return [fault(at, 'command', 'is not the name or path of a program', 'Write its name or absolute path.')];
  }
  return [];
}

function placeFaults(config: ShellConfig, command: readonly Template[], { parameters_schema }: ToolManifest): Fault[] {
  const properties = parameters_schema['properties'];
  // Without a list of properties, any name may be given or omitted.
  if (typeof properties !== 'object' || properties === null) return [];
  const unknown = ({ names }: Template): string[] => names.filter((name) => !Object.hasOwn(properties, name));
  const faults = command.flatMap((template, index) =>
    unknown(template).map((name) => unknownName(`${CONFIG}/command/${index}`, name)),
  );
  const stdin = parseTemplate(config.stdin ?? 'none');
  const used = new Set([...command, stdin].flatMap(({ names }) => names));
  const isAllRead = config.stdin === 'json';
  const doubled = config.command.flatMap((text, index) =>
    [...text.matchAll(DOUBLED)]
      .map(([, name = '']) => name)
      .filter((name) => Object.hasOwn(properties, name) && !used.has(name) && !isAllRead)
      .map((name) => doubledName(`${CONFIG}/command/${index}`, name)),
  );
  return [...faults, ...unknown(stdin).map((name) => unknownName(`${CONFIG}/stdin`, name)), ...doubled];
}

/** Other template languages write their placeholders so, and here it would be a text that no argument reaches. */
function doubledName(at: string, name: string): Fault {
  const message = `holds {{${name}}}, which is the text {${name}}, and uses the parameter ${name} nowhere`;
  return fault(at, 'command', message, `Write {${name}} for the argument.`);
}

function unknownName(at: string, name: string): Fault {
  const hint = `Name a parameter, or write {{${name}}} for the text itself.`;
  return fault(at, 'command', `holds {${name}}, which is no parameter of parameters_schema`, hint);
}

function codeFaults(config: ShellConfig, command: readonly Template[], { parameters_schema }: ToolManifest): Fault[] {
  return parameterPlaces(config, command, parameters_schema).runs.map(({ at, as }) => {
    if (at === 'input') {
      const message = 'would be run as a script: the command is a shell without one';
      return fault(`${CONFIG}/stdin`, 'command', message, 'Give the shell a script with -c, or a file.');
    }
    const place = `${CONFIG}/command/${at}`;
    if (as === 'program') {
      const message = 'lets a parameter say which program or command is run';
      return fault(place, 'command', message, 'Write the program into the manifest, and pass only its arguments.');
    }
    const hint = 'Pass the value as an argument of its own ("$1" in a shell script) or through stdin.';
    return fault(place, 'command', 'puts a parameter into code that a program runs', hint);
  });
}

function folderFaults({ working_directory: folder }: ShellConfig): Fault[] {
  if (folder === undefined || normalize(folder) === folder) return [];
  const hint = `Write ${normalize(folder)}.`;
  return [fault(`${CONFIG}/working_directory`, 'format', 'must be a path in its shortest form', hint)];
}

function secretFaults({ environment = {} }: ShellConfig, { permissions }: ToolManifest): Fault[] {
  return (permissions?.credentials ?? []).flatMap((name) => {
    if (!VARIABLE.test(name)) {
      const message = `asks for the secret ${name}, which is no name of an environment variable`;
      return [
        fault(CONFIG, 'permissions', message, 'Use letters, digits and underscores in the names of its secrets.'),
      ];
    }
    if (!Object.hasOwn(environment, name)) return [];
    const at = `${CONFIG}/environment/${name}`;
    return [fault(at, 'permissions', 'has the name of a secret of permissions.credentials', 'Choose another name.')];
  });
}

function transactionFaults(config: ShellConfig): Fault[] {
  const { transaction, stdin, success_exit_codes: successes = [0] } = config;
  if (transaction === undefined) return [];
  const at = `${CONFIG}/transaction`;
  if (stdin === 'checkpoints' && transaction.auto_rollback !== false) {
    const message = 'would take back what a checkpoint says is done';
    return [fault(at, 'transaction', message, 'Leave out one of transaction and the checkpoints of stdin.')];
  }
  const both = transaction.auto_rollback_exit_codes?.find((code) => successes.includes(code));
  if (both === undefined) return [];
  const place = `${at}/auto_rollback_exit_codes`;
  return [fault(place, 'transaction', `holds ${both}, which is an exit code of success`, 'Name it in one of the two.')];
}

function fault(path: string, keyword: string, message: string, hint: string): Fault {
  return { path, code: 'E3008', keyword, message, hint };
}
