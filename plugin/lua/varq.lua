-- varq's part of Slurm's cli_filter: reservations for sbatch, srun and salloc.
--
-- A site's own cli_filter.lua calls it in two lines:
--
--     local varq = dofile("/usr/share/varq/varq.lua")
--     function slurm_cli_pre_submit(options, offset) ... return varq.pre_submit(options, offset) end
--
-- Its slurm_cli_post_submit should return varq.post_submit(offset, job, step),
-- which tells varqd at once which job was submitted for a plan. Otherwise varqd
-- finds the job in the queue a little later.
--
-- A command without any of varq's options passes at once. For the others, this
-- script gives the options to varq-filter (a Go program), which knows what they
-- mean, and does what the answer says.

local M = {
	-- The program that asks varqd.
	filter = "/usr/bin/varq-filter",
}

local own = { "begin-by", "prob", "begin-after", "best-effort", "on-miss" }

-- The plan of the job that is being submitted, for post_submit.
local plan

-- given returns the first of varq's options that the command was given.
local function given(options)
	local values = options.spank and options.spank.varq
	if values then
		for _, name in ipairs(own) do
			local value = values[name]
			if value ~= nil and value ~= "unset" then
				return name
			end
		end
	end
end

-- say tells the user something. Slurm's own log_error would put "sbatch: error:
-- lua:" before every line.
local function say(text)
	io.stderr:write("varq: ", text, "\n")
end

local function refuse(text)
	say(text)
	return slurm.ERROR
end

local function quoted(word)
	return "'" .. string.gsub(word, "'", "'\\''") .. "'"
end

-- put_in_box writes text into the box, a nameless file that the SPANK plugin has
-- opened (see plugin/spank/box.c). No shell reads the box, so text may be of any
-- length and contain anything.
local function put_in_box(text)
	local number = os.getenv("VARQ_BOX")
	local box = number and io.open("/proc/self/fd/" .. number, "w")
	if not box then
		return false
	end
	box:write(text)
	return box:close()
end

-- ask runs varq-filter and returns its answer, a list of { word, rest }.
local function ask()
	local pipe = io.popen(quoted(M.filter) .. " plan", "r")
	if not pipe then
		return nil
	end
	local answer, complete = {}, false
	for line in pipe:lines() do
		local word, rest = string.match(line, "^(%S+) ?(.*)$")
		complete = word == "end"
		answer[#answer + 1] = { word, rest }
	end
	pipe:close()
	return complete and answer or nil
end

-- act has what to do for each word of an answer. The functions return true for a
-- refusal.
local act = {
	begin = function(options, rest) options["begin"] = rest end,
	time = function(options, rest) options["time"] = rest end,
	comment = function(options, rest)
		local user = options["comment"]
		options["comment"] = user and user ~= "" and user .. " " .. rest or rest
	end,
	ticket = function(_, rest) put_in_box("ticket " .. rest .. "\n") end,
	plan = function(_, rest) plan = rest end,
	say = function(_, rest) say(rest) end,
	refuse = function(_, rest) say(rest) return true end,
	["end"] = function() end,
}

-- pre_submit makes the reservation that the options ask for, and changes the
-- submission accordingly. If varqd refuses, so does pre_submit.
function M.pre_submit(options, offset)
	plan = nil
	local option = given(options)
	if not option then
		return slurm.SUCCESS
	end
	if os.getenv("SLURM_JOB_ID") and options["type"] == "srun" then
		return refuse("--" .. option .. " does not go together with an allocation that is there already")
	end
	if offset and tonumber(offset) > 0 then
		return refuse("--" .. option .. " does not go together with a heterogeneous job: a reservation is of one job")
	end
	if not put_in_box(slurm.json_cli_options(options)) then
		return refuse("the SPANK plugin of varq does not work here; nothing is submitted")
	end
	local answer = ask()
	if not answer then
		return refuse(M.filter .. " does not work here; nothing is submitted")
	end
	local refused = false
	for _, line in ipairs(answer) do
		local action = act[line[1]]
		if not action then
			return refuse(M.filter .. " is of another version than varq.lua; nothing is submitted")
		end
		refused = action(options, line[2]) or refused
	end
	return refused and slurm.ERROR or slurm.SUCCESS
end

-- post_submit tells varqd which job was submitted for the plan. If that fails,
-- varqd finds the job by its comment.
function M.post_submit(_, job, _)
	if plan and plan ~= "" then
		os.execute(string.format("%s bind %s %d </dev/null >/dev/null 2>&1", quoted(M.filter), quoted(plan), job))
		plan = nil
	end
	return slurm.SUCCESS
end

return M
