import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { portInUse } from '../../main/cannot-start.ts';
import { portHolder } from '../../main/port-holder.ts';

test('a port in use: the start names the process that listens on it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(portHolder(port)).toEqual({ pid: process.pid, program: 'node', orphanedRole: null });
  server.close();
  await once(server, 'close');
  expect(portHolder(port)).toBeNull();
  expect(portInUse('127.0.0.1', port, null).message).toBe(
    `port ${port} of 127.0.0.1 is in use by another process; stop that process, or set PORT to a free port.`,
  );
});

test('a role that drains after its supervisor was killed is named, and that it ends by itself', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'meterline-orphan-'));
  const script = join(directory, 'main', 'serve.js');
  mkdirSync(join(directory, 'main'));
  // Prints its port and process id.
  writeFileSync(
    script,
    `const server = require('node:net').createServer().listen(0, '127.0.0.1', () =>
       console.log(server.address().port, process.pid));`,
  );
  // The shell ends at once: nobody supervises the process.
  const shell = spawn('sh', ['-c', '"$0" "$1" &', process.execPath, script]);
  const ended = once(shell, 'exit');
  const [line] = (await once(shell.stdout, 'data')) as [Buffer];
  const [port, pid] = line.toString().trim().split(' ').map(Number) as [number, number];
  await ended;
  const holder = portHolder(port);
  process.kill(pid);
  expect(holder).toEqual({ pid, program: 'node', orphanedRole: 'serve' });
  expect(portInUse('127.0.0.1', port, holder).message).toBe(
    `port ${port} of 127.0.0.1 is in use by process ${pid}, the serve process of a Meterline that was killed; it ends by itself within 10 seconds, so start again then.`,
  );
  rmSync(directory, { recursive: true });
});
