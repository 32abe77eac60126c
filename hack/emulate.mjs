// Starts the independent emulator of GitHub's API on loopback and prints its URL:
//
//   node hack/emulate.mjs FOLDER '{"users": [{"login": "ann"}], "orgs": [...]}'
//
// FOLDER holds its packages, as `hack/tools emulate` prints it. Each user has the token
// token-LOGIN. It runs until it is ended.
import { Server } from "node:http"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

// A connection stays open however long nobody uses it: Node would close it after five
// seconds, maybe while a request is on its way, and one that writes is not sent again.
const { listen } = Server.prototype
Server.prototype.listen = function (...how) {
  this.keepAliveTimeout = 0
  return listen.apply(this, how)
}

const [folder, text] = process.argv.slice(2)
const { createEmulator } = await import(pathToFileURL(join(folder, "emulate", "dist", "api.js")))
const github = JSON.parse(text)
const scopes = ["repo", "user", "admin:org", "delete_repo"]
const tokens = Object.fromEntries(github.users.map(({ login }) => ["token-" + login, { login, scopes }]))
const emulator = await createEmulator({ service: "github", port: 0, seed: { tokens, github } })
console.log(emulator.url.replace("localhost", "127.0.0.1"))
