// Asks for the answer anew as the form changes, has the menu lead back to it, and copies lines. Without it the form is submitted, and
// lines are selected.
"use strict";

const pause = 400; // milliseconds after the last change

const form = document.getElementById("question");
const news = document.getElementById("news");
const asked = "varq-asked"; // the query of what was asked last, as long as this window is open
const home = document.querySelector('nav a[href="./"]');
let timer, asking;

async function part(name, query, signal) {
  const answer = await fetch(name + "?" + query, { signal });
  const type = answer.headers.get("Content-Type") || "";
  if (!type.startsWith("text/html")) throw new Error(await answer.text());
  const text = await answer.text();
  if (signal.aborted) return;
  const place = document.getElementById(name);
  const open = place.querySelector("details")?.open;
  place.innerHTML = text;
  const details = place.querySelector("details");
  if (details && open) details.open = true;
  offerCopies(place);
  document.getElementById("as-of").textContent = answer.headers.get("As-Of");
}

// Marks the fields with which something is wrong, as the page does when the form is submitted.
function mark() {
  for (const field of form.querySelectorAll("input, select")) {
    const wrong = document.querySelector(`#answer [data-field="${field.name}"]`)?.textContent ?? "";
    document.getElementById(field.id + "-wrong").textContent = wrong;
    if (wrong) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
}

// Has the menu lead to what was asked last.
function remember() {
  if (form && location.search) sessionStorage.setItem(asked, location.search);
  home.href = "./" + (sessionStorage.getItem(asked) ?? "");
}

async function ask() {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const query = new URLSearchParams(new FormData(form)).toString();
  document.body.setAttribute("aria-busy", "true");
  news.classList.remove("unseen");
  news.textContent = "varqd is asked ...";
  try {
    await Promise.all([part("answer", query, signal), part("sizes", query, signal)]);
    if (signal.aborted) return;
    mark();
    history.replaceState(null, "", "./?" + query);
    remember();
    news.classList.add("unseen"); // it is said below, but only this is read out
    news.textContent = document.querySelector("#answer h2, #answer .problem")?.textContent ?? "";
  } catch (error) {
    if (signal.aborted) return;
    news.textContent = "No answer: " + error.message + " What is shown below is older.";
  }
  document.body.removeAttribute("aria-busy");
}

function offerCopies(place) {
  for (const button of place.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const line = button.previousElementSibling;
      getSelection().selectAllChildren(line);
      let done = "Copied";
      try {
        await navigator.clipboard.writeText(line.textContent);
      } catch {
        done = "Selected: press Ctrl-C";
      }
      for (const other of document.querySelectorAll("button.copy")) other.textContent = "Copy";
      button.textContent = done; // of the last line alone
    });
  }
}

if (form) {
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    ask();
  });
}
offerCopies(document);
remember();
