// Starts `tfmemlint server` and hands the documents of Python over to it; all else is the server's.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("tfmemlint.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("tfmemlint.command")) {
        await restart();
      } else if (change.affectsConfiguration("tfmemlint.settings")) {
        await client?.sendNotification("workspace/didChangeConfiguration", { settings: settings() });
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function start(): Promise<void> {
  const [command, ...args] = configuration().get<string[]>("command", ["tfmemlint", "server"]);
  if (!command) {
    return;
  }
  const server: ServerOptions = { command, args };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "python" }],
    initializationOptions: settings(),
  };
  client = new LanguageClient("tfmemlint", "tfmemlint", server, options);
  try {
    await client.start();
  } catch {
    client = undefined;
    void vscode.window.showErrorMessage(
      `tfmemlint: \`${command}\` cannot be started. \`pip install "tfmemlint[lsp]"\` installs it; ` +
        "the setting tfmemlint.command says where it is.",
    );
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

function configuration(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("tfmemlint");
}

function settings(): { settings: object } {
  return { settings: configuration().get<object>("settings", {}) };
}
