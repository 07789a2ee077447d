// Questions to the server over HTTP, and which of the answers is still wanted.

import { loadSentences } from "./words.js";

/** What the server says of an error. @typedef {Partial<import("./types").ErrorAnswer>} Trouble */

export class ServerError extends Error {
  /** @param {Trouble} trouble */
  constructor({ code = "", message = "", values, defects, line, column }) {
    super(message);
    this.code = code;
    this.values = values;
    this.defects = defects;
    this.line = line;
    this.column = column;
  }
}

const offline = () => new ServerError({ code: "offline" });

/** Ask the server, and post the body if there is one. @param {string} path @param {unknown} [body] */
export async function request(path, body) {
  const headers = { "content-type": "application/json" };
  const options = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(path, options).catch(() => Promise.reject(offline()));
  if (!response.ok) throw await troubleOf(response);
  return response;
}

/** What an answer says that went wrong, with the sentences for it at hand. @param {Response} response */
async function troubleOf(response) {
  const [trouble] = await Promise.all([response.json().catch(offline), loadSentences()]);
  return new ServerError(trouble);
}

/** Have something deleted or ended. @param {string} path */
export async function remove(path) {
  const response = await fetch(path, { method: "DELETE" }).catch(() => Promise.reject(offline()));
  if (!response.ok) throw await troubleOf(response);
}

/** @param {string} path @param {unknown} [body] @returns {Promise<any>} */
export async function ask(path, body) {
  const response = await request(path, body);
  return response.json().catch(() => Promise.reject(offline()));
}

/** Shows the answer to the newest question only. Answers to older questions come too late and are dropped. */
export class Latest {
  #newest = 0;

  /**
   * @template T
   * @param {Promise<T>} question
   * @param {(answer: T) => void} onAnswer
   * @param {(error: any) => void} onError
   * @returns {Promise<boolean>} Has the answer been shown?
   */
  async show(question, onAnswer, onError) {
    this.#newest += 1;
    const number = this.#newest;
    let answer;
    try {
      answer = await question;
    } catch (error) {
      if (number === this.#newest) onError(error);
      return false;
    }
    if (number !== this.#newest) return false;
    onAnswer(answer);
    return true;
  }

  /** Drop the answer that is awaited. */
  cancel() {
    this.#newest += 1;
  }
}
