import { type Command, Option } from 'commander';
import { type DoctorFinding, EXIT, STDIO_TOOLS, type StdioOptions } from '../cli-parts.ts';
import { type CommandKit, type CommonOptions, layerOptions } from '../command-kit.ts';
import { port } from '../input/option-values.ts';
import type { Printer } from '../output/printer.ts';

/** `serve`, `auth dev`, `mcp` and `doctor`: commands that do not ask a layer that runs already. */
export function addStartCommands(program: Command, kit: CommandKit): void {
  const serve = program
    .command('serve')
    .description('start the layer: REST and MCP on one address')
    .option('--port <port>', 'port to listen on, 0 for any free one', port)
    .option('--host <host>', 'address to listen on; loopback unless you say otherwise');
  const start = (_args: unknown, { port: given, host, ...options }: AddressOptions, more = {}): Promise<number> =>
    kit.parts.serve({
      ...layerOptions(options),
      ...(given === undefined ? {} : { port: given }),
      ...(host === undefined ? {} : { host }),
      ...more,
    });
  // Any failure here means that the layer could not be opened.
  kit.action<AddressOptions>(serve, (args, options) => start(args, options), EXIT.unreachable);

  const development = program
    .command('auth')
    .description('log users in')
    .command('dev')
    .description(
      'start the layer with an authorization server for development: MCP clients need nothing but the address, and users log in in the browser',
    )
    .option('--port <port>', 'port to listen on', port)
    .option('--host <host>', 'loopback address to listen on');
  const authorize = (args: unknown, options: AddressOptions) => start(args, options, { authorizes: true });
  kit.action<AddressOptions>(development, authorize, EXIT.unreachable);

  const mcp = program
    .command('mcp')
    .description('serve the tools over MCP on standard input and output')
    .option('--token <token>', 'capability token of the client; SALLYPORT_TOKEN serves too')
    .addOption(
      new Option('--tools <mode>', 'show all tools, or three that find, describe and call them').choices(STDIO_TOOLS),
    );
  const speak = (_args: unknown, { tools, ...options }: StdioOptions): Promise<number> => {
    const token = options.token ?? kit.parts.io.env['SALLYPORT_TOKEN'];
    return kit.parts.mcpStdio({
      ...layerOptions(options),
      ...(token === undefined ? {} : { token }),
      ...(tools === undefined ? {} : { tools }),
    });
  };
  kit.action(mcp, speak, EXIT.unreachable);

  const doctor = program
    .command('doctor')
    .description('say what works on this machine, what does not, and what that costs');
  kit.action(doctor, async (_args, options, print) => {
    const findings = await kit.parts.doctor(layerOptions(options));
    printFindings(findings, print);
    return findings.some(({ state }) => state === 'failed') ? EXIT.refused : EXIT.ok;
  });
}

type AddressOptions = CommonOptions & { readonly port?: number; readonly host?: string };

function printFindings(findings: readonly DoctorFinding[], print: Printer): void {
  if (print.json) {
    print.value({ findings });
    return;
  }
  const rows = findings.map(({ name, state, message }) => [state, name, message]);
  print.table(['STATE', 'WHAT', 'FOUND'], rows);
  for (const { name, hint } of findings) if (hint !== undefined) print.note(`${name}: ${hint}`);
}
