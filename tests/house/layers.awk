# The dependency law, which src/LAYERS states. mode=law reads that file first; mode=include reads "FILE:LINE INCLUDED";
# mode=symbol reads the lines of `nm -A -g`, "PATH/src/FOLDER/FILE.c.o:ADDRESS TYPE NAME". Prints a line for each breach.
# Modes are set between the files: awk -f layers.awk mode=law LAYERS mode=include -

mode == "law" {
    if ($0 ~ /^#/ || NF == 0) next
    place++
    for (i = 1; i <= NF; i++) {
        if ($i ~ /\/\*$/) parted[substr($i, 1, length($i) - 2)] = place
        else rank[$i] = place
    }
    next
}

# "method/gp" of method/gp/exact/x.c, "solve" of solve/smo/smo.c, "" of a folder that the law does not know
function folder_of(path,   part, count) {
    count = split(path, part, "/")
    if (count > 2 && part[1] in parted) return part[1] "/" part[2]
    return count > 1 && part[1] in rank ? part[1] : ""
}

function place_of(folder,   part) {
    split(folder, part, "/")
    return folder in rank ? rank[folder] : parted[part[1]]
}

function may_use(user, used) {
    return user == used || place_of(used) < place_of(user)
}

mode == "include" {
    user = folder_of($1)
    used = folder_of($2)
    if (user == "") print "src/" $1 ": a folder that the dependency law does not know"
    else if (used == "") print "src/" $1 ": includes \"" $2 "\": write the path from src/ on"
    else if (!may_use(user, used)) print "src/" $1 ": includes \"" $2 "\", but " user " may not use " used
}

mode == "symbol" {
    path = $1
    sub(/\.o:.*/, "", path)
    sub(/.*\/src\//, "", path)
    if ($(NF - 1) == "U") uses[path " " $NF] = 1
    else if ($NF ~ /^gram_/) home[$NF] = folder_of(path)
}

END {
    for (key in uses) {
        split(key, part, " ")
        user = folder_of(part[1])
        if (part[2] in home && !may_use(user, home[part[2]]))
            print "src/" part[1] ": uses " part[2] ", but " user " may not use " home[part[2]]
    }
}
